// Package follow reads the events of a run from its folder while another program writes them.
package follow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/burngen/burngen/runtime/learn"
)

const (
	// file is the name of the events file in the folder of a run.
	file = "events.jsonl"
	// maxChunk is the largest number of bytes that are read at a time. An event is always shorter.
	maxChunk = 4 << 20
	// maxMark is a number of bytes. This many bytes of the file are compared to find out whether it
	// was replaced.
	maxMark = 256
)

// Sink receives the events of a run. All its methods are called from the same goroutine.
type Sink interface {
	Event(e learn.Event)
	// Reset says that the events before are void: all events of the file follow.
	Reset()
}

// Run is a run whose events a [Sink] receives.
type Run struct {
	path   string
	offset int64  // of the first byte that was not read
	mark   []byte // the bytes before offset
	line   int    // lines that were read
}

// Open returns the run in folder dir. It returns an error if dir has no run.
func Open(dir string) (*Run, error) {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: there is no such folder", dir)
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fmt.Errorf("%s: not a folder; name the folder of a run", dir)
	}
	path := filepath.Join(dir, file)
	if info, err = os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: no run is in this folder: there is no file %s", dir, file)
	}
	return &Run{path: path}, nil
}

// Follow passes the events in the file to a sink, and then the events that are written later. It
// returns when the context is done. It looks at the file after each interval, or all the time if
// interval is not above 0. While there is no file, it waits.
//
// Follow reads a line when the line is complete. A line that is not an event becomes a
// [learn.Warned]. When a run is resumed, its file may be replaced, or lines that were already read
// may be cut off. Follow then resets the sink and starts at the beginning.
func (r *Run) Follow(ctx context.Context, interval time.Duration, to Sink) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		for ctx.Err() == nil && r.read(to) {
		}
		timer.Reset(interval)
	}
}

// read reads the next part of the file, and passes the events in it to a sink. It returns true if
// there may be more to read.
func (r *Run) read(to Sink) bool {
	f, err := os.Open(r.path)
	if err != nil {
		return false
	}
	defer f.Close()
	if !r.isSame(f) {
		r.offset, r.mark, r.line = 0, nil, 0
		to.Reset()
	}
	info, err := f.Stat()
	if err != nil || info.Size() <= r.offset {
		return false
	}
	chunk := make([]byte, min(maxChunk, info.Size()-r.offset))
	n, err := f.ReadAt(chunk, r.offset)
	if err != nil && err != io.EOF {
		return false
	}
	chunk = chunk[:n]
	end := bytes.LastIndexByte(chunk, '\n') + 1
	switch {
	case end > 0:
		r.lines(chunk[:end], to)
	case n == maxChunk: // a line that cannot be an event
		end = n
	default:
		return false
	}
	r.offset += int64(end)
	r.mark = append(r.mark, chunk[max(0, end-maxMark):end]...)
	r.mark = append([]byte(nil), r.mark[max(0, len(r.mark)-maxMark):]...)
	return n == maxChunk
}

// isSame reports whether f is still the same file: whether the bytes that were read last are still
// at their place.
func (r *Run) isSame(f *os.File) bool {
	if r.offset == 0 {
		return true
	}
	mark := make([]byte, len(r.mark))
	_, err := f.ReadAt(mark, r.offset-int64(len(mark)))
	return err == nil && bytes.Equal(mark, r.mark)
}

// lines passes the events in complete lines to a sink. A line that is not an event becomes a
// warning.
func (r *Run) lines(text []byte, to Sink) {
	for line := range bytes.Lines(text) {
		r.line++
		e, err := learn.ParseEvent(bytes.TrimRight(line, "\r\n"))
		if err != nil {
			e = learn.Warned{Time: time.Now(), Message: fmt.Sprintf("%s: line %d: %v", file, r.line, err)}
		}
		to.Event(e)
	}
}
