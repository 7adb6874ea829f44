package learn

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/burngen/burngen/runtime/rt"
)

// TestInterruptible sends signals to a run: the first one ends it after a step and saves it, the second
// one ends the context.
func TestInterruptible(t *testing.T) {
	signals, second := make(chan os.Signal), make(chan os.Signal, 1)
	ctx, stop := interruptible(t.Context(), signals, func(s os.Signal) { second <- s })
	defer stop()
	whole, dir := t.TempDir(), t.TempDir()
	newRig(t, whole, nil).mustFit(t)
	r := newRig(t, dir, nil)
	r.show.on = func(e Event) {
		if s, ok := e.(Stepped); ok && s.Epoch == 1 && s.Batch == 2 {
			signals <- os.Interrupt
			<-interrupts(ctx)
		}
	}
	run, err := r.fit(ctx)
	if err != nil || run.Stopped.Reason != "interrupted" || run.Stopped.Done || run.Stopped.Step != 6 {
		t.Errorf("stopped %+v, %v", run.Stopped, err)
	}
	if ctx.Err() != nil {
		t.Error("the first signal ended the context")
	}
	newRig(t, dir, func(o *Options) { o.Resume = Continue }).mustFit(t)
	sameRun(t, dir, whole)
	signals <- syscall.SIGTERM
	if s := <-second; s != syscall.SIGTERM || !errors.Is(context.Cause(ctx), ErrInterrupted) {
		t.Errorf("signal %v, cause %v", s, context.Cause(ctx))
	}
}

// TestSignalDuringASave sends SIGTERM while a state is half written. The run ends, saves, and continues as if it had not
// ended.
func TestSignalDuringASave(t *testing.T) {
	often := func(o *Options) { o.SaveEvery = 1 }
	whole, dir := t.TempDir(), t.TempDir()
	newRig(t, whole, often).mustFit(t)
	signals := make(chan os.Signal)
	ctx, stop := interruptible(t.Context(), signals, func(os.Signal) { t.Error("the signal counts twice") })
	defer stop()
	r := newRig(t, dir, often)
	second := make(chan struct{})
	r.show.on = func(e Event) {
		if s, ok := e.(Stepped); ok && s.Step == 2 {
			close(second) // steps do not wait for saves
			<-interrupts(ctx)
		}
	}
	f, err := r.learner.begin(ctx, loaded(50, 8, true), loaded(12, 8, false))
	if err != nil {
		t.Fatal(err)
	}
	saves, write := 0, f.saver.write
	f.saver.write = func(path string, w *rt.Weights) error {
		if saves++; saves == 1 {
			if err := os.WriteFile(path+".1.partial", []byte("half"), 0o600); err != nil {
				t.Error(err)
			}
			<-second
			signals <- syscall.SIGTERM
			<-interrupts(ctx)
		}
		return write(path, w)
	}
	run, err := f.end(f.loop())
	if err != nil || run.Stopped.Reason != "interrupted" || run.Stopped.Step != 2 || saves != 2 {
		t.Errorf("stopped %+v after %d saves, %v", run.Stopped, saves, err)
	}
	newRig(t, dir, func(o *Options) { o.SaveEvery, o.Resume = 1, Continue }).mustFit(t)
	sameRun(t, dir, whole)
}

// TestSecondSignal ends a run at once.
func TestSecondSignal(t *testing.T) {
	signals := make(chan os.Signal)
	ctx, stop := interruptible(t.Context(), signals, func(os.Signal) {})
	defer stop()
	r := newRig(t, "", nil)
	r.show.on = func(e Event) {
		if s, ok := e.(Stepped); ok && s.Batch == 2 {
			signals <- os.Interrupt
			signals <- os.Interrupt
			<-ctx.Done()
		}
	}
	if run, err := r.fit(ctx); !errors.Is(err, ErrInterrupted) || run.Stopped.Step != 1 {
		t.Errorf("stopped %+v, error %v", run.Stopped, err)
	}
}

func TestStopOfInterruptible(t *testing.T) {
	ctx, stop := Interruptible(t.Context())
	stop()
	stop()
	if ctx.Err() == nil {
		t.Error("the context goes on")
	}
}

// TestPausedRunIsInterrupted asserts that a run that waits ends with a signal.
func TestPausedRunIsInterrupted(t *testing.T) {
	signals := make(chan os.Signal, 1)
	ctx, stop := interruptible(t.Context(), signals, func(os.Signal) {})
	defer stop()
	r := newRig(t, "", nil)
	r.show.on = func(e Event) {
		if s, ok := e.(Stepped); ok && s.Batch == 2 {
			r.show.controls.Pause(true)
			time.AfterFunc(10*time.Millisecond, func() { signals <- os.Interrupt })
		}
	}
	if run, err := r.fit(ctx); err != nil || run.Stopped.Reason != "interrupted" {
		t.Errorf("stopped %+v, error %v", run.Stopped, err)
	}
}
