package learn

import (
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/burngen/burngen/runtime/rt"
)

type journal struct {
	now  func() time.Time
	show Renderer // nil if there is none, or it panicked

	mu   sync.Mutex // the loggers, which are also flushed on another goroutine
	logs []*log
	// errors of flushing that are not reported yet
	problems []string

	stop  chan struct{}
	ended sync.WaitGroup
}

type log struct {
	Logger
	name    string
	failing bool // the last flush failed
}

const flushEvery = time.Second

// openJournal opens the loggers of a folder. marks maps the name of a logger to the position at
// which it continues.
func openJournal(dir string, o *Options, marks map[string]string, now func() time.Time) (*journal, error) {
	j := &journal{now: now, show: o.Show, stop: make(chan struct{})}
	if dir == "" {
		return j, nil
	}
	all := []*log{{Logger: newLogFile(), name: "experiment.log"}, {Logger: newEventsLogger(), name: eventsFile},
		{Logger: newMetricsLogger(), name: "metrics.csv"}, {Logger: &batchFiles{}, name: "values of batches"}}
	for i, l := range o.Log {
		all = append(all, &log{Logger: l, name: fmt.Sprint("logger ", i)})
	}
	for _, l := range all {
		if err := l.open(dir, marks[l.name]); err != nil {
			for _, opened := range j.logs {
				opened.Close()
			}
			return nil, err
		}
		j.logs = append(j.logs, l)
	}
	j.ended.Go(j.flushes)
	return j, nil
}

func (l *log) open(dir, mark string) (err error) {
	defer rt.Recover("logger", &err)
	return l.Open(dir, mark)
}

// flushes flushes the loggers every flushEvery, until the journal is closed.
func (j *journal) flushes() {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			j.mu.Lock()
			j.flush()
			j.mu.Unlock()
		case <-j.stop:
			return
		}
	}
}

func (j *journal) flush() {
	for _, l := range j.logs {
		err := guarded(l.Flush)
		if err != nil && !l.failing {
			j.problems = append(j.problems, fmt.Sprintf("%s: %v; it is tried again", l.name, err))
		}
		l.failing = err != nil
	}
}

func guarded(f func() error) (err error) {
	defer rt.Recover("logger", &err)
	return f()
}

func (j *journal) isSilent() bool { return j.show == nil && len(j.logs) == 0 }

// emit passes an event to the renderer and to all loggers. It drops loggers that fail.
func (j *journal) emit(e Event) {
	dropped := j.render(e)
	j.mu.Lock()
	problems := j.problems
	j.problems = nil
	kept := j.logs[:0]
	for _, l := range j.logs {
		if err := l.event(e); err != nil {
			guarded(l.Close)
			problems = append(problems, fmt.Sprintf("%s: %v; it gets no more events", l.name, err))
			continue
		}
		kept = append(kept, l)
	}
	clear(j.logs[len(kept):])
	j.logs = kept
	j.mu.Unlock()
	if dropped != nil {
		problems = append(problems, fmt.Sprintf("the renderer gets no more events: %v", dropped))
	}
	for _, p := range problems {
		j.warn("%s", p)
	}
}

func (l *log) event(e Event) (err error) {
	defer rt.Recover("event", &err)
	return l.Event(e)
}

// render passes an event to the renderer. If the renderer panics, it is dropped and render returns
// the panic.
func (j *journal) render(e Event) (err error) {
	if j.show == nil {
		return nil
	}
	defer func() {
		if err != nil {
			j.show = nil
		}
	}()
	defer rt.Recover("renderer", &err)
	j.show.Event(e)
	return nil
}

// control passes the controls of the run to the renderer if it is a [Controller].
func (j *journal) control(c Controls) {
	controller, ok := j.show.(Controller)
	if !ok {
		return
	}
	if err := guardedControl(controller, c); err != nil {
		j.show = nil
		j.warn("the renderer gets no more events: %v", err)
	}
}

func guardedControl(to Controller, c Controls) (err error) {
	defer rt.Recover("renderer", &err)
	to.Control(c)
	return nil
}

// warn emits a warning. Without a renderer and loggers, it calls the default logger of package
// slog.
func (j *journal) warn(format string, args ...any) {
	message := fmt.Sprintf(format, args...)
	if j.isSilent() {
		slog.Warn(message)
		return
	}
	j.emit(Warned{Time: j.now(), Message: message})
}

// marks flushes the loggers and returns their positions, keyed by name.
func (j *journal) marks() map[string]string {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.flush()
	marks := map[string]string{}
	for _, l := range j.logs {
		if err := guarded(func() error { marks[l.name] = l.Mark(); return nil }); err != nil {
			j.problems = append(j.problems, fmt.Sprintf("%s: %v", l.name, err))
		}
	}
	return marks
}

func (j *journal) closeLogs() error {
	close(j.stop)
	j.ended.Wait()
	var first error
	for _, l := range j.logs {
		if err := guarded(l.Close); err != nil && first == nil {
			first = fmt.Errorf("%s: %w", l.name, err)
		}
	}
	j.logs = nil
	return first
}

// closeShow closes the renderer, which may wait for the user.
func (j *journal) closeShow() error {
	if c, ok := j.show.(io.Closer); ok {
		return guarded(c.Close)
	}
	return nil
}
