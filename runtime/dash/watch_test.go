//go:build linux

package dash

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/burngen/burngen/runtime/learn"
)

// childWatch watches the folder that a test names.
func childWatch() {
	if err := Watch(context.Background(), os.Getenv(fileVariable)); err != nil {
		fmt.Println("error:", err)
	}
}

// folderOf writes events into the folder of a run.
func folderOf(t *testing.T, events ...learn.Event) string {
	t.Helper()
	dir := t.TempDir()
	var text []byte
	for _, e := range events {
		var err error
		if text, err = learn.AppendEvent(text, e); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "events.jsonl"), text, 0o666); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestWatch(t *testing.T) {
	dir := folderOf(t, recorded(300)...)
	p := inTerminal(t, "watch", true, fileVariable+"="+dir)
	p.await("[loss]") // other texts may be written in parts: only cells that change are
	f, err := os.OpenFile(filepath.Join(dir, "events.jsonl"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	line, _ := learn.AppendEvent(nil, learn.Warned{Message: "written later"})
	f.Write(line)
	f.Close()
	p.await("written later")
	p.typeKeys("q")
	after, err := p.ended()
	if err != nil || !strings.Contains(after, "mnist: 300 steps") || strings.Contains(after, "error") {
		t.Errorf("%v: %q", err, after)
	}
}

func TestWatchNeedsARunAndATerminal(t *testing.T) {
	if err := Watch(context.Background(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "no run is in this folder") {
		t.Error(err)
	}
	t.Setenv("TERM", "dumb")
	if err := Watch(context.Background(), folderOf(t)); err == nil || !strings.Contains(err.Error(), "a terminal is needed") {
		t.Error(err)
	}
}
