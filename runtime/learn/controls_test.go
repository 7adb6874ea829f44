package learn

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestControls asks for a checkpoint, pauses, goes on, and ends a run.
func TestControls(t *testing.T) {
	dir := t.TempDir()
	r := newRig(t, dir, func(o *Options) { o.Keep = []Keeper{Last(9)} })
	var paused, resumed time.Time
	r.show.on = func(e Event) {
		s, ok := e.(Stepped)
		if !ok || s.Split != Train || s.Epoch != 0 {
			return
		}
		switch s.Batch {
		case 0:
			r.show.controls.Save()
		case 2:
			paused = time.Now()
			r.show.controls.Pause(true)
			go func() { // goes on when the checkpoint that it asks for is there
				time.Sleep(40 * time.Millisecond)
				r.show.controls.Save()
				for begin := time.Now(); time.Since(begin) < time.Minute; time.Sleep(time.Millisecond) {
					if _, err := os.Stat(filepath.Join(dir, "checkpoint", "epoch-1-step-2.safetensors")); err == nil {
						break
					}
				}
				r.show.controls.Pause(false)
			}()
		case 4:
			resumed = time.Now()
		case 6:
			r.show.controls.Finish(true)
		}
	}
	run := r.mustFit(t)
	if run.Stopped.Reason != "interrupted" || resumed.Sub(paused) < 40*time.Millisecond {
		t.Errorf("stopped %+v, paused for %v", run.Stopped, resumed.Sub(paused))
	}
	files := strings.Join(filesOf(t, dir), " ")
	for _, want := range []string{"checkpoint/epoch-1-step-1.safetensors", "checkpoint/epoch-1-step-2.safetensors"} {
		if !strings.Contains(files, want) {
			t.Errorf("files %s: %s is missing", files, want)
		}
	}
}

// TestFinishWithoutSaving ends a run and drops what was not saved.
func TestFinishWithoutSaving(t *testing.T) {
	whole, dir := t.TempDir(), t.TempDir()
	newRig(t, whole, func(o *Options) { o.Epochs = 1 }).mustFit(t)
	r := newRig(t, dir, nil)
	r.show.on = func(e Event) {
		if s, ok := e.(Stepped); ok && s.Epoch == 1 {
			r.show.controls.Finish(false)
		}
	}
	if run := r.mustFit(t); run.Stopped.Done || run.Stopped.Step != 5 {
		t.Errorf("stopped %+v", run.Stopped)
	}
	if got, want := stateOf(t, dir)["trainer/w"], stateOf(t, whole)["trainer/w"]; got != want {
		t.Error("the state is not that of the first epoch")
	}
}
