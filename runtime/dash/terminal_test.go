//go:build linux

package dash

import (
	"bytes"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/burngen/burngen/internal/itself"
	"github.com/burngen/burngen/runtime/learn"
)

// children are programs that tests run in a terminal, as processes of their own.
var children = map[string]func(){
	"whole":     childWhole,
	"panic":     childPanic,
	"elsewhere": childPanicElsewhere,
	"loop":      childLoop,
	"stuck":     childStuck,
	"trainer":   childTrainer,
	"watch":     childWatch,
}

// childVariable names the child in the environment of its process.
const childVariable = "DASH_TEST_CHILD"

func TestMain(m *testing.M) {
	if child, ok := children[os.Getenv(childVariable)]; ok {
		child()
		return
	}
	os.Exit(m.Run())
}

// childWhole trains and prints.
func childWhole() {
	r := Terminal()
	events := recorded(4 * 127)
	for _, e := range events[:len(events)-1] {
		r.Event(e)
	}
	fmt.Println("from fmt")
	log.SetFlags(0)
	log.Print("from log")
	println("from println")
	child := exec.Command("echo", "from a child")
	child.Stdout = os.Stdout
	child.Run()
	fmt.Print("10 %\r20 %\rwithout an end")
	r.Event(events[len(events)-1])
	r.Close()
	fmt.Println("after the end")
}

// fileVariable names a file in the environment of a child.
const fileVariable = "DASH_TEST_FILE"

// awaitFile waits until the test writes the child's file.
func awaitFile() {
	for range 6000 {
		if _, err := os.Stat(os.Getenv(fileVariable)); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func childPanic() {
	r := Terminal()
	defer r.Close()
	r.Event(recorded(0)[0])
	awaitFile()
	panic("boom")
}

func childPanicElsewhere() {
	r := Terminal()
	r.Event(recorded(0)[0])
	awaitFile()
	go panic("boom")
	time.Sleep(time.Minute)
}

// childLoop trains on when it is asked to finish.
func childLoop() {
	r := Terminal()
	r.Control(&controls{})
	r.Event(recorded(0)[0])
	time.Sleep(time.Minute)
}

// childStuck trains while nobody reads what the terminal writes, and says how long that took.
func childStuck() {
	r := Terminal()
	r.Event(recorded(0)[0])
	time.Sleep(time.Second) // the first picture fills the terminal's buffer
	longest := time.Duration(0)
	for i := range 200_000 {
		start := time.Now()
		r.Event(learn.Stepped{Split: learn.Train, Batch: i, Step: i + 1, Loss: learn.Number(i % 100), Took: time.Millisecond})
		longest = max(longest, time.Since(start))
		if i%1000 == 0 {
			fmt.Println(strings.Repeat("print ", 20))
			time.Sleep(time.Millisecond)
		}
	}
	os.WriteFile(os.Getenv(fileVariable), []byte(longest.String()), 0o666)
	time.Sleep(time.Minute)
}

// childTrainer trains until it is asked to end, or for five minutes.
func childTrainer() {
	r := Terminal()
	c := &controls{}
	r.Control(c)
	asked := func(what string) bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return strings.Contains(strings.Join(c.asks, ","), what)
	}
	e := recorded(0)[0].(learn.Started)
	r.Event(e)
	fmt.Println("a line of the trainer")
	saved := false
	for i := 0; i < 30_000 && !asked("finish"); i++ {
		time.Sleep(10 * time.Millisecond)
		r.Event(learn.Stepped{Split: learn.Train, Batch: i % 127, Step: i + 1, Items: 64, Loss: learn.Number(2 / float64(i+1)), Took: 10 * time.Millisecond})
		if asked("save") && !saved {
			saved = true
			os.WriteFile(os.Getenv(fileVariable), []byte("checkpoint"), 0o666)
			r.Event(learn.Saved{Time: time.Now(), Step: i + 1, File: "checkpoint/now.safetensors", Bytes: 10})
		}
	}
	r.Event(learn.Stopped{Time: time.Now(), Step: 1, Reason: "the user ended it"})
	r.Close()
	fmt.Println("the trainer ends")
}

// pty is a terminal that a test holds the other end of.
type pty struct {
	*testing.T
	master, slave *os.File
	before        unix.Termios
	cmd           *exec.Cmd
	mu            sync.Mutex
	output        bytes.Buffer
	wait          chan error
}

// inTerminal starts a child in a new terminal of 80 × 24. Its output is read if reads is set.
func inTerminal(t *testing.T, child string, reads bool, env ...string) *pty {
	t.Helper()
	itself.Need(t)
	p := &pty{T: t, wait: make(chan error, 1)}
	var err error
	if p.master, err = os.OpenFile("/dev/ptmx", os.O_RDWR, 0); err != nil {
		t.Skip(err)
	}
	number := 0
	if err = unix.IoctlSetPointerInt(int(p.master.Fd()), unix.TIOCSPTLCK, 0); err == nil {
		number, err = unix.IoctlGetInt(int(p.master.Fd()), unix.TIOCGPTN)
	}
	if err == nil {
		p.slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Skip(err)
	}
	if err := unix.IoctlSetWinsize(int(p.slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}); err != nil {
		t.Fatal(err)
	}
	p.before = p.termios()
	p.cmd = exec.Command(os.Args[0])
	p.cmd.Env = append(os.Environ(), append([]string{childVariable + "=" + child, "TERM=xterm-256color", "LANG=C.UTF-8", "LC_ALL=", "CI=", "NO_COLOR="}, env...)...)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = p.slave, p.slave, p.slave
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if reads {
		go p.read()
	}
	go func() { p.wait <- p.cmd.Wait() }()
	t.Cleanup(func() {
		p.cmd.Process.Kill()
		p.slave.Close()
		p.master.Close()
	})
	return p
}

func (p *pty) read() {
	buffer := make([]byte, 4096)
	for {
		n, err := p.master.Read(buffer)
		p.mu.Lock()
		p.output.Write(buffer[:n])
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (p *pty) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.output.String()
}

func (p *pty) termios() unix.Termios {
	p.Helper()
	s, err := unix.IoctlGetTermios(int(p.slave.Fd()), unix.TCGETS)
	if err != nil {
		p.Fatal(err)
	}
	return *s
}

// Sequences of xterm that switch to the screen of the dashboard and back.
const (
	enter = "\x1b[?1049h"
	leave = "\x1b[?1049l"
)

// await waits until the output has a text.
func (p *pty) await(text string) {
	p.Helper()
	for range 6000 {
		if strings.Contains(p.text(), text) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	p.Fatalf("no %q in %q", text, p.text())
}

// ended waits for the end of the child, asserts that the terminal is as it was, and returns what was
// written to the normal screen afterwards.
func (p *pty) ended() (after string, err error) {
	p.Helper()
	select {
	case err = <-p.wait:
	case <-time.After(time.Minute):
		p.Fatalf("the child does not end: %q", p.text())
	}
	p.await(leave)
	for range 100 { // what the terminal still holds
		before := len(p.text())
		time.Sleep(20 * time.Millisecond)
		if len(p.text()) == before && p.termios() == p.before {
			break
		}
	}
	if got := p.termios(); got != p.before {
		p.Errorf("the modes of the terminal are %+v, were %+v", got, p.before)
	}
	all := p.text()
	if !strings.Contains(all, enter) {
		p.Errorf("there was no dashboard: %q", all)
	}
	after = all[strings.LastIndex(all, leave)+len(leave):]
	for _, mode := range []string{"\x1b[?25h", "\x1b[?1002l", "\x1b[?2004l"} { // cursor, mouse, pasting
		if !strings.Contains(after, mode) {
			p.Errorf("%q is missing in %q", mode, after)
		}
	}
	return after, err
}

func (p *pty) typeKeys(keys string) {
	p.Helper()
	if _, err := p.master.WriteString(keys); err != nil {
		p.Fatal(err)
	}
}

// signalled returns the signal that ended a child, or 0.
func signalled(err error) syscall.Signal {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if s := exit.Sys().(syscall.WaitStatus); s.Signaled() {
			return s.Signal()
		}
	}
	return 0
}

func TestAWholeRun(t *testing.T) {
	p := inTerminal(t, "whole", true)
	p.await("press any key")
	time.Sleep(3 * often)
	select {
	case err := <-p.wait:
		t.Fatalf("it did not wait for a key: %v", err)
	default:
	}
	if text := p.text(); strings.Contains(text[strings.LastIndex(text, enter):], leave) {
		t.Error("the dashboard did not stay")
	}
	p.typeKeys("x")
	after, err := p.ended()
	if err != nil {
		t.Error(err)
	}
	after = strings.ReplaceAll(after, "\r\n", "\n")
	for _, want := range []string{"from fmt\n", "from log\n", "from println\n", "from a child\n", "\nwithout an end\n",
		"mnist: 508 steps in 00:00:21; 4 epochs are done\n", "valid", "after the end\n"} {
		if !strings.Contains(after, want) {
			t.Errorf("no %q in %q", want, after)
		}
	}
	if strings.Contains(after, "20 %") || strings.Contains(after, "10 %") {
		t.Errorf("a line that was written over is in %q", after)
	}
}

// TestTheTerminalIsRestoredAfterAPanic has the panic on the goroutine that trains, which closes the
// dashboard, and on another one.
func TestTheTerminalIsRestoredAfterAPanic(t *testing.T) {
	for _, child := range []string{"panic", "elsewhere"} {
		file := filepath.Join(t.TempDir(), "go")
		p := inTerminal(t, child, true, fileVariable+"="+file)
		p.await("mnist")
		if err := os.WriteFile(file, nil, 0o666); err != nil {
			t.Fatal(err)
		}
		after, err := p.ended()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 2 || !strings.Contains(after, "panic: boom") || !strings.Contains(after, "goroutine ") {
			t.Errorf("%s: %v: %q", child, err, after)
		}
	}
}

func TestTheTerminalIsRestoredAfterSignals(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGKILL} {
		if signal.Ignored(s) { // nohup runs the test
			continue
		}
		p := inTerminal(t, "loop", true)
		p.await("mnist")
		p.cmd.Process.Signal(s)
		if _, err := p.ended(); signalled(err) != s {
			t.Errorf("%v: ended with %v", s, err)
		}
	}
}

func TestTheSecondCtrlCEndsTheProgram(t *testing.T) {
	p := inTerminal(t, "loop", true)
	p.await("mnist")
	p.typeKeys("\x03")
	p.await("stopping")
	p.typeKeys("\x03")
	if _, err := p.ended(); signalled(err) != syscall.SIGINT {
		t.Errorf("ended with %v", err)
	}
	p = inTerminal(t, "loop", true) // from another process
	p.await("mnist")
	p.cmd.Process.Signal(syscall.SIGINT)
	p.await("stopping")
	p.cmd.Process.Signal(syscall.SIGINT)
	if _, err := p.ended(); signalled(err) != syscall.SIGINT {
		t.Errorf("ended with %v", err)
	}
}

// TestATerminalThatTakesNothing asserts that training goes on while the terminal blocks.
func TestATerminalThatTakesNothing(t *testing.T) {
	out := filepath.Join(t.TempDir(), "longest")
	inTerminal(t, "stuck", false, fileVariable+"="+out)
	for range 6000 {
		if text, err := os.ReadFile(out); err == nil && len(text) > 0 {
			longest, err := time.ParseDuration(string(text))
			if err != nil || longest > 2*time.Second { // a machine with much else to do
				t.Errorf("an event took %s", text)
			}
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("training waits for the terminal")
}

// TestASlowLineGetsFewerPictures asserts how the time between pictures follows the time that one takes.
func TestASlowLineGetsFewerPictures(t *testing.T) {
	term := &terminal{}
	for _, c := range []struct{ took, want time.Duration }{{0, often}, {time.Millisecond, often}, {200 * time.Millisecond, seldom}, {time.Millisecond, often}} {
		term.took(c.took)
		if got := term.interval(); got != c.want {
			t.Errorf("a picture that takes %v: the next after %v, want %v", c.took, got, c.want)
		}
	}
}

// lines is a renderer that counts.
type lines struct {
	events, closed int
	controls       learn.Controls
}

func (l *lines) Event(learn.Event)        { l.events++ }
func (l *lines) Control(c learn.Controls) { l.controls = c }
func (l *lines) Close() error             { l.closed++; return nil }

// TestWithoutATerminal asserts that all events go to the other renderer.
func TestWithoutATerminal(t *testing.T) {
	t.Setenv("CI", "1")
	l := &lines{}
	r := Terminal(l)
	c := &controls{}
	r.Control(c)
	events := recorded(4 * 127)
	for _, e := range events {
		r.Event(e)
	}
	if err := errors.Join(r.Close(), r.Close()); err != nil {
		t.Error(err)
	}
	if l.events != len(events) || l.closed != 1 || l.controls != learn.Controls(c) {
		t.Errorf("%d of %d events, %d times closed, controls %v", l.events, len(events), l.closed, l.controls)
	}
	r = Terminal() // lines
	r.Event(events[0])
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// TestTmux runs a program in tmux, as a user does: types, makes the terminal larger and smaller, and ends
// the run.
func TestTmux(t *testing.T) {
	itself.Need(t)
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("no tmux")
	}
	dir := t.TempDir()
	out, socket := filepath.Join(dir, "checkpoint"), filepath.Join(dir, "tmux")
	tmux := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("tmux", append([]string{"-f", os.DevNull, "-u", "-S", socket}, args...)...)
		cmd.Env = append(os.Environ(), "LANG=C.UTF-8", "LC_ALL=C.UTF-8", "TMUX=", "TERM=xterm-256color")
		text, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %q: %v: %s", args, err, text)
		}
		return string(text)
	}
	await := func(want ...string) string {
		t.Helper()
		text := ""
		for range 1200 {
			text = tmux("capture-pane", "-p", "-t", "run")
			all := true
			for _, w := range want {
				all = all && strings.Contains(text, w)
			}
			if all {
				return text
			}
			time.Sleep(100 * time.Millisecond)
		}
		t.Fatalf("no %q in\n%s", want, text)
		return ""
	}
	program := fmt.Sprintf("env CI= NO_COLOR= %s=trainer %s='%s' '%s'; echo code $?; sleep 100", childVariable, fileVariable, out, os.Args[0])
	tmux("new-session", "-d", "-s", "run", "-x", "100", "-y", "30", "sh", "-c", program)
	defer exec.Command("tmux", "-S", socket, "kill-server").Run()
	await("mnist", "[loss]", "epoch 1/4", "a line of the trainer", "q quit")
	tmux("send-keys", "-t", "run", "Right")
	await("[accuracy]", "no values yet")
	tmux("send-keys", "-t", "run", "c")
	await("saved checkpoint/now.safetensors")
	if _, err := os.Stat(out); err != nil {
		t.Error(err)
	}
	tmux("resize-window", "-t", "run", "-x", "40", "-y", "12")
	if text := await("└" + strings.Repeat("─", 38) + "┘"); strings.Count(text, "\n") > 12 {
		t.Errorf("in 40 × 12:\n%s", text)
	}
	tmux("resize-window", "-t", "run", "-x", "30", "-y", "5")
	await("e1 ", " %  loss ")
	tmux("resize-window", "-t", "run", "-x", "120", "-y", "40")
	await("[accuracy]", "┬")
	// When the program ends, tmux would keep lines of a screen that is larger than it was at first.
	tmux("resize-window", "-t", "run", "-x", "100", "-y", "30")
	await("└" + strings.Repeat("─", 98) + "┘")
	tmux("send-keys", "-t", "run", "q")
	await("end the run?")
	tmux("send-keys", "-t", "run", "s")
	text := await("a line of the trainer", "the user ended it", "the trainer ends", "code 0")
	if strings.Contains(text, "│") {
		t.Errorf("the screen is not the normal one:\n%s", text)
	}
}
