package follow

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/burngen/burngen/runtime/learn"
)

// list is a sink that keeps texts.
type list []string

func (l *list) Event(e learn.Event) {
	switch e := e.(type) {
	case learn.Warned:
		*l = append(*l, e.Message)
	default:
		*l = append(*l, fmt.Sprintf("%T", e))
	}
}

func (l *list) Reset() { *l = append(*l, "reset") }

func warned(text string) string {
	line, _ := learn.AppendEvent(nil, learn.Warned{Message: text})
	return string(line)
}

// folder is a folder of a run that tests write to.
type folder struct {
	*testing.T
	dir string
	run *Run
	got list
}

func newFolder(t *testing.T, content string) *folder {
	f := &folder{T: t, dir: t.TempDir()}
	f.write(content)
	var err error
	if f.run, err = Open(f.dir); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *folder) path() string { return filepath.Join(f.dir, file) }

func (f *folder) write(content string) {
	f.Helper()
	if err := os.WriteFile(f.path(), []byte(content), 0o666); err != nil {
		f.Fatal(err)
	}
}

func (f *folder) append(content string) {
	f.Helper()
	old, _ := os.ReadFile(f.path())
	f.write(string(old) + content)
}

// expect reads what is new, and compares it.
func (f *folder) expect(want ...string) {
	f.Helper()
	f.got = nil
	for f.run.read(&f.got) {
	}
	if !reflect.DeepEqual([]string(f.got), want) {
		f.Errorf("got %.300q, want %.300q", f.got, want)
	}
}

func TestAFileThatGrows(t *testing.T) {
	f := newFolder(t, warned("a")+warned("b"))
	f.expect("a", "b")
	f.expect()
	whole := warned("c")
	f.append(whole[:10])
	f.expect()
	f.append(whole[10:] + "rubbish\n" + warned("d"))
	f.expect("c", "events.jsonl: line 4: the line does not begin with {\"event\":\"", "d")
}

func TestAFileThatIsCut(t *testing.T) {
	f := newFolder(t, warned("a")+warned("b")+warned("c"))
	f.expect("a", "b", "c")
	f.write(warned("a"))
	f.expect("reset", "a")
	f.append(warned("b"))
	f.expect("b")
	// Cut and written on between two looks: the file is longer than it was.
	f.write(warned("a") + warned("another") + warned("and more"))
	f.expect("reset", "a", "another", "and more")
	// Another file of the same length.
	f.write(warned("x") + warned("another") + warned("and then"))
	f.expect("reset", "x", "another", "and then")
}

func TestAFileThatGoesAway(t *testing.T) {
	f := newFolder(t, warned("a"))
	f.expect("a")
	os.Remove(f.path())
	f.expect()
	f.write(warned("b"))
	f.expect("reset", "b")
}

func TestAFileThatIsEmptyAtFirst(t *testing.T) {
	f := newFolder(t, "")
	f.expect()
	f.append(warned("a"))
	f.expect("a")
}

func TestLongFilesAndLines(t *testing.T) {
	var text strings.Builder
	var want []string
	for i := range 6 {
		line := fmt.Sprint(i, strings.Repeat("x", 900_000)) // more than a chunk in all
		text.WriteString(warned(line))
		want = append(want, line)
	}
	f := newFolder(t, text.String())
	f.expect(want...)
	f.append(strings.Repeat("y", maxChunk+10))
	f.expect() // it may not end with a line, but is too long for an event
	f.append("\n" + warned("z"))
	f.expect(`events.jsonl: line 7: the line does not begin with {"event":"`, "z")
}

func TestFoldersWithoutARun(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "odd", file), 0o777); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		dir:                           "no run is in this folder: there is no file events.jsonl",
		filepath.Join(dir, "missing"): "there is no such folder",
		plain:                         "not a folder; name the folder of a run",
		filepath.Join(dir, "odd"):     "no run is in this folder: there is no file events.jsonl",
	} {
		if _, err := Open(path); err == nil || err.Error() != path+": "+want {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// stopping is a sink that ends the following with the first event.
type stopping struct {
	list
	stop func()
}

func (s *stopping) Event(e learn.Event) { s.list.Event(e); s.stop() }

func TestFollowEndsWithItsContext(t *testing.T) {
	f := newFolder(t, warned("a"))
	ctx, stop := context.WithCancel(context.Background())
	s := &stopping{stop: stop}
	f.run.Follow(ctx, time.Millisecond, s)
	if len(s.list) != 1 || s.list[0] != "a" {
		t.Errorf("got %q", s.list)
	}
}
