package learn

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestRendererThatPanics asserts that training goes on without it.
func TestRendererThatPanics(t *testing.T) {
	whole, dir := t.TempDir(), t.TempDir()
	newRig(t, whole, nil).mustFit(t)
	r := newRig(t, dir, nil)
	n := 0
	r.show.on = func(Event) {
		if n++; n == 9 {
			panic("no terminal")
		}
	}
	r.mustFit(t)
	sameRun(t, dir, whole)
	if n != 9 {
		t.Errorf("the renderer got %d events", n)
	}
	warned := ""
	for _, e := range eventsOf(t, dir) {
		if w, ok := e.(Warned); ok {
			warned += w.Message + "\n"
		}
	}
	if !strings.Contains(warned, "the renderer gets no more events: renderer: panic: no terminal") {
		t.Errorf("warnings %q", warned)
	}
}

// controlPanics panics when it gets the controls.
type controlPanics struct{ recorder }

func (*controlPanics) Control(Controls) { panic("no keys") }

func TestControllerThatPanics(t *testing.T) {
	show := &controlPanics{}
	newRig(t, "", func(o *Options) { o.Show = show }).mustFit(t)
	if len(show.events) > 0 {
		t.Errorf("it got %d events", len(show.events))
	}
}

// badLogger fails at an event.
type badLogger struct {
	at     int
	panics bool
	events int
	closed int
	opened error
	flush  error
}

func (l *badLogger) Open(dir, mark string) error { return l.opened }
func (l *badLogger) Mark() string                { return "" }
func (l *badLogger) Flush() error                { return l.flush }
func (l *badLogger) Close() error                { l.closed++; return nil }

func (l *badLogger) Event(e Event) error {
	if l.events++; l.events == l.at {
		if l.panics {
			panic("no disk")
		}
		return errFull
	}
	return nil
}

func TestLoggersThatFail(t *testing.T) {
	a, b := &badLogger{at: 3}, &badLogger{at: 4, panics: true}
	c := &badLogger{flush: errFull}
	r := newRig(t, t.TempDir(), func(o *Options) { o.Log = []Logger{a, b, c} })
	r.mustFit(t)
	if a.events != 3 || b.events != 4 || a.closed != 1 || b.closed != 1 || c.closed != 1 || c.events < 30 {
		t.Errorf("%+v, %+v, %+v", a, b, c)
	}
	warned := ""
	for _, e := range r.show.events {
		if w, ok := e.(Warned); ok {
			warned += w.Message + "\n"
		}
	}
	for _, want := range []string{"logger 0: no space left on device; it gets no more events", "logger 1: event: panic: no disk", "logger 2: no space left on device; it is tried again"} {
		if strings.Count(warned, want) != 1 {
			t.Errorf("warnings %q: %q expected once", warned, want)
		}
	}
	_, err := newRig(t, t.TempDir(), func(o *Options) { o.Log = []Logger{c, &badLogger{opened: errors.New("no folder")}} }).fit(t.Context())
	wantError(t, err, "no folder")
	if c.closed != 2 {
		t.Error("a logger that was opened before is not closed")
	}
}

// counting is a logger that counts flushes.
type counting struct {
	badLogger
	flushes atomic.Int64
}

func (l *counting) Flush() error {
	l.flushes.Add(1)
	return nil
}

// TestFlushedEachSecond asserts that events reach the files without further events.
func TestFlushedEachSecond(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	l := &counting{}
	j, err := openJournal(t.TempDir(), &Options{Log: []Logger{l}}, nil, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	for begin := time.Now(); l.flushes.Load() == 0; time.Sleep(10 * time.Millisecond) {
		if time.Since(begin) > 30*time.Second {
			t.Fatal("it is not flushed")
		}
	}
	if err := j.closeLogs(); err != nil {
		t.Error(err)
	}
}

func TestMarksName(t *testing.T) {
	j, err := openJournal(t.TempDir(), &Options{Log: []Logger{&badLogger{}}}, nil, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer j.closeLogs()
	j.emit(Warned{Message: "a"})
	marks := j.marks()
	if len(marks) != 5 || marks[eventsFile] == "0" || marks["metrics.csv"] != fmt.Sprint(len("epoch,step,split,name,value\n")) {
		t.Errorf("marks %q", marks)
	}
}
