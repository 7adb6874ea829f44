package learn

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestTapeIsCutAtItsMark(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "file")
	for _, tt := range []struct {
		before string
		mark   int64
		want   string
	}{
		{"", 0, "new\n"},
		{"one\ntwo\n", 4, "one\nnew\n"},
		{"one\ntwo\nto", 8, "one\ntwo\nnew\n"},
		{"one\ntwo\n", 0, "new\n"},
		{"one\ntw", 100, "one\nnew\n"}, // the machine failed: the last line is torn
		{"one\ntw", toEnd, "one\nnew\n"},
		{"on", toEnd, "new\n"},
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(tt.before), 0o600); err != nil {
			t.Fatal(err)
		}
		tape, err := openTape(path, tt.mark, wholeLines)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(tape, "new\n")
		if got := tape.mark(); got != int64(len(tt.want)) {
			t.Errorf("%+v: mark %d", tt, got)
		}
		if err := tape.close(); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != tt.want {
			t.Errorf("%+v: the file is %q, %v", tt, got, err)
		}
	}
}

// disk is a file on a disk that has room for some bytes.
type disk struct {
	content []byte
	room    int
}

var errFull = errors.New("no space left on device")

func (d *disk) WriteAt(b []byte, at int64) (int, error) {
	d.content = append(d.content[:at], b[:min(len(b), max(0, d.room-int(at)))]...)
	if n := len(d.content) - int(at); n < len(b) {
		return n, errFull
	}
	return len(b), nil
}

func (d *disk) Close() error { return nil }

// TestTapeOnAFullDisk asserts that nothing is lost or doubled if the disk is full for some time.
func TestTapeOnAFullDisk(t *testing.T) {
	d := &disk{room: 5}
	tape := &tape{file: d}
	io.WriteString(tape, "one\ntwo\n")
	for range 2 {
		if err := tape.flush(); !errors.Is(err, errFull) || string(d.content) != "one\nt" || tape.mark() != 8 {
			t.Fatalf("%q, mark %d, %v", d.content, tape.mark(), err)
		}
	}
	io.WriteString(tape, "three\n")
	d.room = 100
	if err := tape.close(); err != nil || string(d.content) != "one\ntwo\nthree\n" {
		t.Errorf("%q, %v", d.content, err)
	}
	full := &disk{}
	tape.file, tape.at = full, 0
	line := strings.Repeat("x", 1<<20)
	for range 16 {
		if _, err := io.WriteString(tape, line); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := io.WriteString(tape, line); !errors.Is(err, errBehind) {
		t.Errorf("error %v", err)
	}
}

// TestTapeOnADeviceThatIsFull writes to /dev/full, which takes nothing.
func TestTapeOnADeviceThatIsFull(t *testing.T) {
	f, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil || runtime.GOOS != "linux" {
		t.Skip("no /dev/full")
	}
	tape := &tape{file: f}
	io.WriteString(tape, "one\n")
	if err := tape.flush(); err == nil || tape.mark() != 4 || len(tape.pending) != 4 {
		t.Errorf("error %v, mark %d, %d bytes wait", err, tape.mark(), len(tape.pending))
	}
	f.Close()
}

func TestMarksOfHostileStates(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct {
		logger Logger
		mark   string
	}{
		{newEventsLogger(), "x"},
		{newEventsLogger(), "-5"},
		{&batchFiles{}, "x"},
		{&batchFiles{}, `{"Files":{"../x":1}}`},
		{&batchFiles{}, `{"Files":{"/x":1}}`},
		{TensorBoard(), "x"},
		{TensorBoard(), `{"File":"../x","Size":1}`},
		{TensorBoard(), `{"File":"events.out.tfevents.1/../../x"}`},
		{TensorBoard(), `{"Size":-1}`},
	} {
		if err := tt.logger.Open(dir, tt.mark); err == nil {
			t.Errorf("%T opens at %q", tt.logger, tt.mark)
			tt.logger.Close()
		}
	}
	if files := filesOf(t, dir); len(files) > 0 {
		t.Errorf("files %q", files)
	}
}
