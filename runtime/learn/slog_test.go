package learn

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const wholeLog = `time=2026-01-02T03:04:05.000Z level=INFO msg=started epoch=1 step=0 run=mnist batch=0 epochs=2 steps=0 items=95 parameters=33
time=2026-01-02T03:04:05.000Z level=INFO msg=valid epoch=2 step=20 accuracy=92
time=2026-01-02T03:04:05.000Z level=INFO msg="epoch ended" epoch=2 step=20 took=1s
time=2026-01-02T03:04:05.000Z level=INFO msg=saved epoch=2 step=20 file=checkpoint/epoch-1.safetensors bytes=4096 took=1ms
time=2026-01-02T03:04:05.000Z level=INFO msg=deleted file=checkpoint/epoch-0.safetensors
time=2026-01-02T03:04:05.000Z level=INFO msg=improved epoch=2 step=20 key="valid accuracy" value=92 before=-Inf
time=2026-01-02T03:04:05.000Z level=WARN msg="an \"item\" was skipped"
time=2026-01-02T03:04:05.000Z level=INFO msg=stopped epoch=2 step=20 reason="2 epochs are done" done=true took=1m0s
`

// TestLogFile writes each event, and goes on behind what is there.
func TestLogFile(t *testing.T) {
	dir := t.TempDir()
	for _, mark := range []string{"", "1"} {
		l := newLogFile()
		if err := l.Open(dir, mark); err != nil {
			t.Fatal(err)
		}
		for _, e := range everyEvent() {
			if err := l.Event(e); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(filepath.Join(dir, "experiment.log"))
	if err != nil || string(got) != wholeLog+wholeLog {
		t.Errorf("%s, %v", got, err)
	}
}

func TestSlog(t *testing.T) {
	var b bytes.Buffer
	l := Slog(slog.NewTextHandler(&b, &slog.HandlerOptions{Level: slog.LevelDebug}))
	for _, e := range everyEvent() {
		if err := l.Event(e); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(b.String(), "level=DEBUG msg=train epoch=2 step=13 batch=2 loss=0.25\n") {
		t.Error(b.String())
	}
}
