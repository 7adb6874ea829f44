package learn

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/burngen/burngen/runtime/metric"
	"github.com/burngen/burngen/runtime/record"
	"github.com/burngen/burngen/runtime/rt"
)

// TestFullDisk asserts that a run goes on if states cannot be saved, keeps the last good checkpoint, and
// returns an error if it cannot be saved in the end.
func TestFullDisk(t *testing.T) {
	for _, recovers := range []bool{true, false} {
		dir := t.TempDir()
		r := newRig(t, dir, func(o *Options) { o.Epochs, o.Keep = 4, []Keeper{Last(1)} })
		saves := 0
		full := func(f *fitOf) {
			write := f.saver.write
			f.saver.write = func(path string, w *rt.Weights) error {
				if saves++; saves == 2 || saves == 3 || !recovers && saves > 1 {
					os.WriteFile(path+".1.partial", []byte("half"), 0o600)
					return errFull
				}
				return write(path, w)
			}
		}
		run, err := fitWith(t, r, full)
		if recovers != (err == nil) || !recovers && !strings.Contains(err.Error(), "the run could not be saved: ") {
			t.Fatalf("error %v", err)
		}
		warned := 0
		for _, e := range eventsOf(t, dir) {
			if w, ok := e.(Warned); ok && strings.Contains(w.Message, "no space left on device") {
				warned++
			}
		}
		if warned < 2 {
			t.Errorf("%d warnings", warned)
		}
		files := strings.Join(filesOf(t, dir), " ")
		want := "checkpoint/epoch-4.safetensors"
		if !recovers {
			want = "checkpoint/epoch-1.safetensors"
		}
		if !strings.Contains(files, want) || strings.Count(files, "checkpoint/epoch-") < 1 {
			t.Errorf("files %s, want %s", files, want)
		}
		if recovers {
			if err := run.LoadBest("valid loss"); err != nil && !strings.Contains(err.Error(), "was not kept") {
				t.Error(err)
			}
		}
		// The state that is left continues.
		whole := t.TempDir()
		newRig(t, whole, func(o *Options) { o.Epochs, o.Keep = 5, []Keeper{Last(1)} }).mustFit(t)
		newRig(t, dir, func(o *Options) { o.Epochs, o.Keep, o.Resume = 5, []Keeper{Last(1)}, Continue }).mustFit(t)
		if got, want := stateOf(t, dir)["trainer/w"], stateOf(t, whole)["trainer/w"]; got != want {
			t.Error("the weights differ from those of a run that was always saved")
		}
		if left := strings.Join(filesOf(t, dir), " "); strings.Contains(left, "partial") {
			t.Errorf("files %s", left)
		}
	}
}

// fitOf is a run of a rig that is under way.
type fitOf = fit[set, metric.Values]

// fitWith fits after a change of the run that has begun.
func fitWith(t *testing.T, r *rig, change func(f *fitOf)) (*Run, error) {
	t.Helper()
	f, err := r.learner.begin(t.Context(), loaded(50, 8, true), loaded(12, 8, false))
	if err != nil {
		t.Fatal(err)
	}
	change(f)
	return f.end(f.loop())
}

// TestOneSaveAtATime asserts that a slow save holds up neither steps nor the order of files.
func TestOneSaveAtATime(t *testing.T) {
	whole, dir := t.TempDir(), t.TempDir()
	often := func(o *Options) { o.SaveEvery = 1 }
	newRig(t, whole, often).mustFit(t)
	var under, most atomic.Int64
	r := newRig(t, dir, often)
	if _, err := fitWith(t, r, func(f *fitOf) {
		write := f.saver.write
		f.saver.write = func(path string, w *rt.Weights) error {
			most.Store(max(most.Load(), under.Add(1)))
			defer under.Add(-1)
			time.Sleep(2 * time.Millisecond)
			return write(path, w)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if most.Load() != 1 {
		t.Errorf("%d saves at a time", most.Load())
	}
	sameRun(t, dir, whole)
}

// TestCopyIsOfTheMoment asserts that a state is saved as it was when saving began.
func TestCopyIsOfTheMoment(t *testing.T) {
	x := []float32{1, 2, 3}
	parts := map[string]rt.Stater{"x": registered(func(s *rt.State) { rt.StateTensor(s, "x", x, 3) }), "empty": registered(func(*rt.State) {})}
	var c copier
	for _, first := range []float32{1, 5} {
		x[0] = first
		w, err := rt.CollectState(parts)
		if err == nil {
			w, err = c.copyOf(w)
		}
		if err != nil {
			t.Fatal(err)
		}
		x[0] = 9
		if err := rt.RestoreState(w, parts); err != nil || x[0] != first {
			t.Errorf("x is %v, %v", x, err)
		}
	}
}

// TestFormatOfCheckpoints saves checkpoints in another format, and continues from one.
func TestFormatOfCheckpoints(t *testing.T) {
	whole, dir := t.TempDir(), t.TempDir()
	zipped := func(o *Options) {
		o.Record, o.Keep = record.Recorder{Format: record.MessagePack, Gzip: true}, []Keeper{Every(1)}
	}
	newRig(t, whole, zipped).mustFit(t)
	newRig(t, dir, zipped).mustFit(t)
	newRig(t, dir, func(o *Options) { zipped(o); o.Resume = From(1) }).mustFit(t)
	sameRun(t, dir, whole)
	if _, err := os.Stat(filepath.Join(dir, "checkpoint", "epoch-3.mpk.gz")); err != nil {
		t.Error(err)
	}
}

// TestReadOnlyFolder asserts that a run does not begin in a folder that cannot be written.
func TestReadOnlyFolder(t *testing.T) {
	dir := t.TempDir()
	if runtime.GOOS == "windows" || os.Geteuid() == 0 {
		// Root writes everywhere: a file in the place of the folder cannot be written by anyone.
		dir = filepath.Join(dir, "file")
		if err := os.WriteFile(dir, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	} else if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, dir, nil)
	_, err := r.fit(t.Context())
	wantError(t, err, "learn: ", dir)
	if len(r.show.events) > 0 {
		t.Error("the run has begun")
	}
}
