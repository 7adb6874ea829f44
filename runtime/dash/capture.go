//go:build unix || windows

package dash

import (
	"bytes"
	"io"
	"os"
	"sync"
	"time"
)

// maxPending is a number of bytes. A line that is not finished after this many bytes is passed on.
const maxPending = 4096

// capture passes on the lines that a program prints while its dashboard is on the screen.
type capture struct {
	// the terminal to which standard output led before
	screen *os.File
	// restores standard output and standard error
	undo func()
	done chan struct{}

	mu      sync.Mutex
	line    func(string) // nil: text that is still printed goes to the screen
	pending []byte
}

// captureOutput passes each line of standard output to the function `line`, until the method restore is called. If
// withStderr is true, it also passes the lines of standard error. The dashboard can write to the
// screen field of the result.
//
// If withStderr is true and a panic ends the program, the text of the panic goes to crash. If crash
// is nil, it goes to the original standard error. captureOutput returns an error if the output
// cannot be redirected.
func captureOutput(withStderr bool, crash *os.File, line func(string)) (*capture, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	c := &capture{line: line, done: make(chan struct{})}
	c.screen, c.undo, err = redirect(w, withStderr, crash)
	if err != nil {
		r.Close()
		w.Close()
		return nil, err
	}
	go c.read(r)
	return c, nil
}

// read reads the text from the pipe and splits it into lines. It returns when all writers of the
// pipe are closed.
func (c *capture) read(r *os.File) {
	defer close(c.done)
	defer r.Close()
	buffer := make([]byte, 32<<10)
	for {
		n, err := r.Read(buffer)
		c.take(buffer[:n])
		if err != nil {
			c.mu.Lock()
			c.flush()
			c.mu.Unlock()
			return
		}
	}
}

func (c *capture) take(text []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.line == nil {
		c.screen.Write(text)
		return
	}
	for {
		i := bytes.IndexByte(text, '\n')
		if i < 0 {
			break
		}
		c.pending = append(c.pending, text[:i]...)
		text = text[i+1:]
		c.emit()
	}
	if c.pending = append(c.pending, text...); len(c.pending) > maxPending {
		c.emit()
	}
}

// emit passes on the pending line. Of this line, it passes on only the text after the last carriage
// return.
func (c *capture) emit() {
	line := bytes.TrimRight(c.pending, "\r")
	line = line[bytes.LastIndexByte(line, '\r')+1:]
	c.line(string(line))
	c.pending = c.pending[:0]
}

// flush passes on an unfinished last line. The caller holds mu.
func (c *capture) flush() {
	if c.line != nil && len(c.pending) > 0 {
		c.emit()
	}
}

// restore ends the capture. It first waits for text that the program has printed, which is passed
// on. If child processes still hold the pipe, it waits only a moment, and text that they print
// later goes to the screen.
func (c *capture) restore() {
	c.undo()
	select {
	case <-c.done:
		c.screen.Close()
	case <-time.After(100 * time.Millisecond):
		c.mu.Lock()
		c.flush()
		c.line = nil
		c.mu.Unlock()
	}
}

// timed is a terminal that reports the duration of each write.
type timed struct {
	*os.File
	took func(time.Duration)
}

var _ io.ReadWriteCloser = timed{}

// Write implements [io.Writer].
func (t timed) Write(p []byte) (int, error) {
	start := time.Now()
	n, err := t.File.Write(p)
	t.took(time.Since(start))
	return n, err
}
