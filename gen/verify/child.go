package verify

import (
	"context"
	"encoding/gob"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/burngen/burngen/gen/verify/harness"
)

// child is the program under test. It is started on demand, and again after a crash.
type child struct {
	binary string

	cmd      *exec.Cmd
	in       io.WriteCloser
	requests *gob.Encoder
	replies  *gob.Decoder
	stderr   *head
}

type head struct {
	mu   sync.Mutex
	text []byte
}

const maxHead = 1 << 14

func (h *head) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text = append(h.text, p[:min(len(p), maxHead-len(h.text))]...)
	return len(p), nil
}

func (h *head) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return string(h.text)
}

func (c *child) start() error {
	c.cmd = exec.Command(c.binary)
	c.stderr = new(head)
	c.cmd.Stderr = c.stderr
	in, err := c.cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.cmd.Start(); err != nil {
		c.cmd = nil
		return err
	}
	c.in, c.requests, c.replies = in, gob.NewEncoder(in), gob.NewDecoder(out)
	return nil
}

// call requests a call of a case. If ctx ends or the program crashes, the program is stopped, and
// the error says so.
func (c *child) call(ctx context.Context, q harness.Request) (harness.Reply, error) {
	var r harness.Reply
	if c.cmd == nil {
		if err := c.start(); err != nil {
			return r, err
		}
	}
	done := make(chan error, 1)
	go func() {
		err := c.requests.Encode(q)
		if err == nil {
			err = c.replies.Decode(&r)
		}
		done <- err
	}()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		c.cmd.Process.Kill()
		<-done
		err = ctx.Err()
	}
	if err == nil {
		return r, nil
	}
	ended := c.close()
	switch {
	case ctx.Err() != nil:
		return r, errTimeout
	case ended != nil:
		err = ended
	}
	return r, fmt.Errorf("crashed: %s", crash(c.stderr.String(), err))
}

func crash(stderr string, err error) string {
	for line := range strings.Lines(stderr) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return err.Error()
}

// grace is the time that a [child] may take to end.
const grace = 20 * time.Second

// close ends the program. It returns nil if the program ended normally or was not running.
func (c *child) close() error {
	if c.cmd == nil {
		return nil
	}
	c.in.Close()
	timer := time.AfterFunc(grace, func() { c.cmd.Process.Kill() })
	err := c.cmd.Wait()
	timer.Stop()
	c.cmd = nil
	return err
}
