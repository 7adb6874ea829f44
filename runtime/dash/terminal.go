//go:build unix || windows

package dash

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/burngen/burngen/runtime/dash/internal/progress"
	"github.com/burngen/burngen/runtime/learn"
)

// terminal is the renderer. Control, Event and Close must not be called concurrently.
type terminal struct {
	run       *progress.Run
	otherwise learn.Renderer
	// the first event has arrived
	began bool
	// a dashboard is or was shown
	open    bool
	closed  bool
	stopped bool
	program *tea.Program
	capture *capture
	// writes to the terminal take long
	slow atomic.Bool
	// closed when the dashboard is closed and the terminal restored
	done chan struct{}
	// the dashboard is closed while the run goes on
	failed atomic.Bool

	mu       sync.Mutex
	controls learn.Controls
}

func newTerminal(otherwise learn.Renderer) Renderer {
	return &terminal{run: progress.New(), otherwise: otherwise, done: make(chan struct{})}
}

// Control implements [learn.Controller].
func (t *terminal) Control(c learn.Controls) {
	t.mu.Lock()
	t.controls = c
	t.mu.Unlock()
	if o, ok := t.otherwise.(learn.Controller); ok {
		o.Control(c)
	}
}

func (t *terminal) control() learn.Controls {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.controls
}

// Event implements [learn.Renderer]. It never waits for the terminal.
func (t *terminal) Event(e learn.Event) {
	t.run.Event(e)
	if _, ok := e.(learn.Stopped); ok {
		t.stopped = true
	}
	if !t.began {
		t.began = true
		if usable(os.Stdin, os.Stdout, os.Getenv) {
			t.show()
		}
	}
	if t.otherwise != nil && (!t.open || t.failed.Load()) {
		t.otherwise.Event(e)
	}
}

func usable(in, out *os.File, getenv func(string) string) bool {
	return !wantsLines(getenv) && isTerminal(in, getenv) && isTerminal(out, getenv) && inForeground(out)
}

// show opens the dashboard. If this fails, standard output stays as it was.
func (t *terminal) show() {
	g := startGuard(os.Stdin, os.Stdout)
	var crash *os.File
	if g != nil {
		crash = g.lastWords()
	}
	c, err := captureOutput(isTerminal(os.Stderr, os.Getenv), crash, t.run.Print)
	if err != nil {
		if g != nil {
			g.release()
		}
		return
	}
	t.open, t.capture = true, c
	m := newModel(t.run, needsASCII(os.Getenv), t.control)
	m.interval = t.interval
	m.giveUp = func() { t.end(os.Interrupt) }
	t.program = tea.NewProgram(m, tea.WithInput(os.Stdin), tea.WithOutput(timed{c.screen, t.took}),
		tea.WithoutSignalHandler(), tea.WithFPS(int(time.Second/often)))
	go t.signals()
	go func() {
		defer close(t.done)
		_, err := t.program.Run()
		t.capture.restore()
		if g != nil {
			g.release()
		}
		if err != nil && !errors.Is(err, tea.ErrProgramKilled) || errors.Is(err, tea.ErrProgramPanic) {
			fmt.Fprintf(os.Stderr, "the dashboard failed: %v\n", err)
		}
		t.failed.Store(true)
	}()
}

func (t *terminal) took(d time.Duration) { t.slow.Store(d > often/2) }

func (t *terminal) interval() time.Duration {
	if t.slow.Load() {
		return seldom
	}
	return often
}

// signals handles signals until the dashboard is closed. It passes interrupts on to the dashboard.
// At SIGTERM or SIGHUP it restores the terminal and raises the signal again.
func (t *terminal) signals() {
	received := make(chan os.Signal, 4)
	defer signal.Stop(received)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(received, s)
		}
	}
	for {
		select {
		case <-t.done:
			return
		case s := <-received:
			if s == os.Interrupt {
				go t.program.Send(tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl})
				continue
			}
			signal.Stop(received)
			t.restore()
			raise(s)
			return
		}
	}
}

// end restores the terminal. It then ends the program as the signal would by default.
func (t *terminal) end(s os.Signal) {
	t.restore()
	signal.Reset(s)
	raise(s)
	time.Sleep(time.Second)
	os.Exit(130) // 128 and SIGINT, as shells say
}

// raise sends a signal to this process. On systems on which this is not possible, it exits.
func raise(s os.Signal) {
	p, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = p.Signal(s)
	}
	if err != nil {
		os.Exit(1)
	}
}

// restore closes the dashboard and restores the terminal. It returns false if the terminal has
// accepted no output for 5 seconds.
func (t *terminal) restore() bool {
	go t.program.Quit()
	select {
	case <-t.done:
		return true
	case <-time.After(5 * time.Second):
		return false
	}
}

// Close implements [io.Closer].
func (t *terminal) Close() error {
	if t.closed {
		return nil
	}
	t.closed = true
	if t.open {
		if !t.stopped && !t.restore() {
			return errors.New("the terminal takes nothing; it was not restored")
		}
		<-t.done
		printed(os.Stdout, t.run)
		if t.stopped {
			fmt.Print(t.run.Summary())
		}
	}
	if c, ok := t.otherwise.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// printed writes the lines that the program printed while the dashboard was shown.
func printed(w io.Writer, run *progress.Run) {
	lines, dropped := run.Printed()
	if dropped > 0 {
		fmt.Fprintf(w, "… %d lines\n", dropped)
	}
	for _, l := range lines {
		fmt.Fprintln(w, l)
	}
}
