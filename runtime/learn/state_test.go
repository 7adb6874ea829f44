package learn

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/burngen/burngen/runtime/data"
)

// TestResumeFromEveryBatch ends a run after each of its batches, also those of validation, and continues
// it. The weights, the states of everything, and the files have to be the same as without an end.
func TestResumeFromEveryBatch(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"epochs": func(*Options) {},
		"steps":  func(o *Options) { o.ValidEvery, o.SaveEvery, o.Epochs, o.Steps = 3, 2, 0, 10 },
	} {
		t.Run(name, func(t *testing.T) {
			whole := t.TempDir()
			reference := newRig(t, whole, change)
			reference.mustFit(t)
			batches := 0
			for _, e := range reference.show.events {
				if _, ok := e.(Stepped); ok {
					batches++
				}
			}
			if batches < 20 {
				t.Fatalf("%d batches", batches)
			}
			for end := 1; end < batches; end++ {
				dir := t.TempDir()
				first := newRig(t, dir, change)
				first.show.on = finishAfter(first, end)
				if run := first.mustFit(t); run.Stopped.Reason != "interrupted" && end < batches-3 {
					t.Errorf("after %d batches: %+v", end, run.Stopped)
				}
				second := newRig(t, dir, func(o *Options) {
					change(o)
					o.Resume = Continue
				})
				second.mustFit(t)
				sameRun(t, dir, whole)
				if t.Failed() {
					t.Fatalf("after %d batches", end)
				}
			}
		})
	}
}

// finishAfter returns a function that ends a run after n batches.
func finishAfter(r *rig, n int) func(Event) {
	return func(e Event) {
		if _, ok := e.(Stepped); ok {
			if n--; n == 0 {
				r.show.controls.Finish(true)
			}
		}
	}
}

// TestContinueTwice ends a run twice within the same epoch.
func TestContinueTwice(t *testing.T) {
	whole, dir := t.TempDir(), t.TempDir()
	newRig(t, whole, nil).mustFit(t)
	for _, batches := range []int{2, 3, 1, 100} {
		r := newRig(t, dir, func(o *Options) { o.Resume = Continue })
		r.show.on = finishAfter(r, batches)
		r.mustFit(t)
	}
	sameRun(t, dir, whole)
}

// TestContinueWithMore ends a run at its limit, and continues it with a larger one.
func TestContinueWithMore(t *testing.T) {
	whole, dir := t.TempDir(), t.TempDir()
	newRig(t, whole, nil).mustFit(t)
	newRig(t, dir, func(o *Options) { o.Epochs = 1 }).mustFit(t)
	r := newRig(t, dir, func(o *Options) { o.Resume = Continue })
	run := r.mustFit(t)
	sameRun(t, dir, whole)
	if e := r.show.events[0].(Started); e.Epoch != 1 || e.Step != 4 || run.Stopped.Step != 12 {
		t.Errorf("started %+v, stopped %+v", e, run.Stopped)
	}
	again := newRig(t, dir, func(o *Options) { o.Resume = Continue }).mustFit(t)
	if again.Stopped.Reason != "3 epochs done" || !again.Stopped.Done || again.Stopped.Step != 12 {
		t.Errorf("stopped %+v", again.Stopped)
	}
	sameRun(t, dir, whole)
}

func TestFromAnEpoch(t *testing.T) {
	whole, dir := t.TempDir(), t.TempDir()
	keepAll := func(o *Options) { o.Keep = []Keeper{Every(1)} }
	newRig(t, whole, keepAll).mustFit(t)
	newRig(t, dir, keepAll).mustFit(t)
	r := newRig(t, dir, func(o *Options) { keepAll(o); o.Resume = From(2) })
	r.mustFit(t)
	sameRun(t, dir, whole)
	if e := r.show.events[0].(Started); e.Epoch != 2 {
		t.Errorf("started %+v", e)
	}
	_, err := newRig(t, dir, func(o *Options) { keepAll(o); o.Resume = From(7) }).fit(t.Context())
	wantError(t, err, "From(7): there is no such checkpoint, but epoch-1.safetensors, epoch-2.safetensors, epoch-3.safetensors")
}

func TestFolderWithARun(t *testing.T) {
	dir := t.TempDir()
	newRig(t, dir, nil).mustFit(t)
	_, err := newRig(t, dir, nil).fit(t.Context())
	wantError(t, err, "there is a run in the folder: set Resume to Continue, Fresh or From(epoch)")
	own := filepath.Join(dir, "own.txt")
	if err := os.WriteFile(own, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, dir, func(o *Options) { o.Resume, o.Epochs = Fresh, 1 })
	r.mustFit(t)
	if e := r.show.events[0].(Started); e.Step != 0 {
		t.Errorf("a fresh run started at %+v", e)
	}
	if _, err := os.Stat(own); err != nil {
		t.Error("a file of the user is gone")
	}
	if _, err := os.Stat(filepath.Join(dir, "train", "epoch-2")); err == nil {
		t.Error("values of the run before are still there")
	}
}

// TestContinueRefusesOtherRuns changes what a run must have in common with the one that it continues.
func TestContinueRefusesOtherRuns(t *testing.T) {
	dir := t.TempDir()
	newRig(t, dir, nil).mustFit(t)
	before := stateOf(t, dir)
	items := points(50)
	items[49].Y++
	other := data.Load(data.Of(items), data.Pairs(data.Copy[vector, float32]), data.LoaderOptions{Batch: 8, Shuffle: true, Seed: 3})
	for _, tt := range []struct {
		change func(*Options)
		train  *toyLoader
		want   string
	}{
		{func(o *Options) { o.Config = map[string]any{"rate": 0.1, "more": 1} }, loaded(50, 8, true), "Config: more is 1, and was missing; Config: rate is 0.1, and was 0.05"},
		{func(o *Options) { o.Config = nil }, loaded(50, 8, true), `Config is null, and was {"rate":0.05}`},
		{func(o *Options) { o.Accumulate = 1 }, loaded(50, 8, true), "Accumulate is 1, and was 2"},
		{func(o *Options) { o.Optimizers = o.Optimizers[:1] }, loaded(50, 8, true), "the number of optimizers is 1, and was 2"},
		{nil, loaded(51, 8, true), "the number of training items is 51, and was 50"},
		{nil, loaded(50, 9, true), "the batch size is 9, and was 8"},
		{nil, loaded(50, 8, false), "Shuffle is false, and was true"},
		{nil, other, "the training data have other items"},
	} {
		r := newRig(t, dir, func(o *Options) {
			o.Resume, o.Epochs = Continue, 9
			if tt.change != nil {
				tt.change(o)
			}
		})
		_, err := r.learner.Fit(t.Context(), tt.train, nil)
		wantError(t, err, "this is not the run that was saved: ", tt.want)
	}
	if after := stateOf(t, dir); len(after) != len(before) {
		t.Error("a refused run changed the state")
	}
}

// moving is a data set whose items change.
type moving struct {
	data.Dataset[point]
	calls int
}

func (m *moving) At(i int) (point, error) {
	p, err := m.Dataset.At(i)
	m.calls++
	p.Y += float32(m.calls)
	return p, err
}

func TestItemsThatChange(t *testing.T) {
	dir := t.TempDir()
	for _, resume := range []Resumption{Refuse, Continue} {
		r := newRig(t, dir, func(o *Options) { o.Resume, o.Epochs = resume, 1-int(resume) })
		train := data.Load[point](&moving{Dataset: data.Of(points(50))}, data.Pairs(data.Copy[vector, float32]), data.LoaderOptions{Batch: 8, Workers: data.Inline})
		if _, err := r.learner.Fit(t.Context(), train, nil); err != nil {
			t.Fatal(err)
		}
		warned := 0
		for _, e := range r.show.events {
			if _, ok := e.(Warned); ok {
				warned++
			}
		}
		if warned != 1 {
			t.Errorf("%v: %d warnings", resume, warned)
		}
	}
}

// TestTornLines continues a run whose machine failed after its state was saved: the last lines of its files are torn.
func TestTornLines(t *testing.T) {
	whole, dir := t.TempDir(), t.TempDir()
	newRig(t, whole, nil).mustFit(t)
	first := newRig(t, dir, nil)
	first.show.on = finishAfter(first, 10)
	first.mustFit(t)
	for name, more := range map[string]string{
		"events.jsonl": `{"event":"stepped","step":9` + "\n" + `{"event":"step`, "metrics.csv": "2,9,train,lo", "train/epoch-2/Loss.log": "0.2",
	} {
		f, err := os.OpenFile(filepath.Join(dir, filepath.FromSlash(name)), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString(more); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	newRig(t, dir, func(o *Options) { o.Resume = Continue }).mustFit(t)
	sameRun(t, dir, whole)
}

// TestDamagedState continues from states that are torn, changed, or missing.
func TestDamagedState(t *testing.T) {
	dir := t.TempDir()
	newRig(t, dir, nil).mustFit(t)
	path := filepath.Join(dir, stateFile)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil { // it may be a second name of a checkpoint
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name    string
		content []byte
	}{{"torn", whole[:len(whole)/2]}, {"changed", append(append([]byte(nil), whole[:len(whole)-9]...), "changed!!"...)}, {"empty", nil}} {
		if err := os.WriteFile(path, tt.content, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := newRig(t, dir, func(o *Options) { o.Resume, o.Epochs = Continue, 9 }).fit(t.Context())
		wantError(t, err, stateFile)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	_, err = newRig(t, dir, func(o *Options) { o.Resume = Continue }).fit(t.Context())
	wantError(t, err, "last.safetensors is missing, but there are checkpoints")
}

// TestKilledBeforeTheFirstSave continues a run that has saved nothing.
func TestKilledBeforeTheFirstSave(t *testing.T) {
	whole, dir := t.TempDir(), t.TempDir()
	newRig(t, whole, nil).mustFit(t)
	first := newRig(t, dir, nil)
	ctx, cancel := context.WithCancel(t.Context())
	first.show.on = func(e Event) {
		if s, ok := e.(Stepped); ok && s.Batch == 3 {
			cancel()
		}
	}
	if _, err := first.fit(ctx); err == nil {
		t.Fatal("no error")
	}
	if _, err := os.Stat(filepath.Join(dir, stateFile)); err == nil {
		t.Fatal("it was saved")
	}
	newRig(t, dir, func(o *Options) { o.Resume = Continue }).mustFit(t)
	sameRun(t, dir, whole)
}
