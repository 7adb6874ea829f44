package learn

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/metric"
	"github.com/burngen/burngen/runtime/optim"
	"github.com/burngen/burngen/runtime/rt"
)

// kinds returns the names of events in order, runs of equal ones as one.
func kinds(events []Event) string {
	var names []string
	for _, e := range events {
		name := e.kind()
		switch e := e.(type) {
		case Stepped:
			name += " " + string(e.Split)
		case Measured:
			name += " " + string(e.Split)
		case Saved, Deleted, Improved:
			continue
		}
		if len(names) == 0 || names[len(names)-1] != name {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// TestOrderOfEvents pins the order of events, and where a run ends.
func TestOrderOfEvents(t *testing.T) {
	const epoch = ", stepped train, measured train, stepped valid, measured valid, epochEnded"
	const within = ", stepped train, stepped valid, measured valid"
	for _, tt := range []struct {
		name   string
		change func(*Options)
		want   string
		reason string
		step   int
	}{
		{"epochs", func(o *Options) { o.Epochs = 2 }, "started" + epoch + epoch + ", stopped", "2 epochs done", 8},
		{"steps at the end of an epoch", func(o *Options) { o.Epochs, o.Steps = 0, 4 }, "started" + epoch + ", stopped", "4 steps done", 4},
		{"steps within an epoch", func(o *Options) { o.Epochs, o.Steps = 0, 6 }, "started" + epoch + within + ", stopped", "6 steps done", 6},
		{"whichever comes first", func(o *Options) { o.Epochs, o.Steps = 1, 6 }, "started" + epoch + ", stopped", "1 epoch done", 4},
		{"validation within epochs", func(o *Options) { o.Epochs, o.ValidEvery = 1, 2 },
			"started" + within + ", stepped train, measured train, stepped valid, measured valid, epochEnded, stopped", "1 epoch done", 4},
		{"validation between epochs", func(o *Options) { o.Epochs, o.ValidEvery = 1, 3 },
			"started" + within + ", stepped train, measured train, epochEnded, stopped", "1 epoch done", 4},
		{"stopper", func(o *Options) { o.Epochs, o.Stop = 0, Below("valid loss", 1e9) }, "started" + epoch + ", stopped", "valid loss is ", 4},
		{"time", func(o *Options) { o.Epochs, o.Stop = 0, After(1) }, "started, stepped train, stopped", "1ns are over", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, t.TempDir(), func(o *Options) {
				tt.change(o)
				o.Optimizers[0].Factor, o.Optimizers[1].Factor = nil, nil
			})
			run := r.mustFit(t)
			if got := kinds(r.show.events); got != tt.want {
				t.Errorf("events %s\nwant   %s", got, tt.want)
			}
			if !strings.HasPrefix(run.Stopped.Reason, tt.reason) || run.Stopped.Step != tt.step || !run.Stopped.Done {
				t.Errorf("stopped %+v", run.Stopped)
			}
			if got, want := timeless(eventsOf(t, run.Dir)), timeless(r.show.events); !slices.Equal(got, want) {
				t.Errorf("the file has other events%s", firstDifference(got, want))
			}
		})
	}
}

// TestEventsOfBatches asserts what events of batches say.
func TestEventsOfBatches(t *testing.T) {
	r := newRig(t, "", func(o *Options) { o.Epochs = 1 })
	r.mustFit(t)
	var steps, items, windows []int
	for _, e := range r.show.events {
		if s, ok := e.(Stepped); ok && s.Split == Train {
			steps, items = append(steps, s.Step), append(items, s.Items)
			windows = append(windows, len(s.Values))
			took := (s.Batch+1)%2 == 0 || s.Batch == 6
			if (s.Rate != 0) != took || (s.GradNorm != 0) != took || s.Took <= 0 || s.Waited < 0 {
				t.Errorf("%+v", s)
			}
		}
	}
	if fmt.Sprint(steps, items, windows) != "[0 1 1 2 2 3 4] [8 8 8 8 8 8 2] [0 0 2 0 0 2 2]" {
		t.Error(steps, items, windows)
	}
}

// TestLossIsNaN asserts that a loss that is not finite ends the run before it reaches the weights, and
// that the state before stays.
func TestLossIsNaN(t *testing.T) {
	for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(1))} {
		dir := t.TempDir()
		r := newRig(t, dir, nil)
		calls := 0
		r.learner.task.Step = func(b *set) (metric.Values, error) {
			res, err := r.toy.step(b.X, b.Y)
			if calls++; calls == 10 {
				res.loss = bad
			}
			return valuesOf(b.X, b.Y, res), err
		}
		run, err := r.fit(t.Context())
		wantError(t, err, fmt.Sprintf("epoch 2, batch 3, step 6: loss is %v at step 6", bad))
		if run.Stopped.Done || !strings.Contains(run.Stopped.Reason, "at step 6") {
			t.Errorf("stopped %+v", run.Stopped)
		}
		whole := t.TempDir()
		newRig(t, whole, func(o *Options) { o.Epochs = 1 }).mustFit(t)
		if got, want := stateOf(t, dir)["trainer/w"], stateOf(t, whole)["trainer/w"]; got != want {
			t.Errorf("the saved weights are %s, want those of epoch 1, %s", got, want)
		}
	}
}

// TestErrorsOfSteps asserts that errors and panics become one error that names the place.
func TestErrorsOfSteps(t *testing.T) {
	broken := errors.New("broken")
	for _, tt := range []struct {
		change func(r *rig)
		want   string
	}{
		{func(r *rig) {
			r.learner.task.Step = func(*set) (metric.Values, error) { return metric.Values{}, broken }
		}, "epoch 1, batch 1, step 1: broken"},
		{func(r *rig) { r.learner.task.Step = func(*set) (metric.Values, error) { panic("no") } }, "epoch 1, batch 1, step 1: task: panic: no"},
		{func(r *rig) {
			r.learner.task.Eval = func(*set) (metric.Values, error) { return metric.Values{}, broken }
		}, "evaluation: batch 1: broken"},
		{func(r *rig) {
			step := r.learner.task.Step
			r.learner.task.Step = func(b *set) (metric.Values, error) {
				out, err := step(b)
				out.Predicted = out.Predicted[1:]
				return out, err
			}
		}, "epoch 1, batch 1, step 1: MAE: 7 predictions and 8 targets"},
		{func(r *rig) { r.learner.o.Optimizers[0].Rate = optim.Constant(-1) }, "adam: learning rate is -1"},
	} {
		dir := t.TempDir()
		r := newRig(t, dir, nil)
		tt.change(r)
		run, err := r.fit(t.Context())
		wantError(t, err, tt.want)
		if run == nil || run.Stopped.Reason == "" || run.Stopped.Done {
			t.Errorf("run %+v", run)
		}
		if last, ok := r.show.events[len(r.show.events)-1].(Stopped); !ok || last.Reason != run.Stopped.Reason {
			t.Errorf("the last event is %+v", r.show.events[len(r.show.events)-1])
		}
		if _, err := openFolder(dir); err != nil {
			t.Errorf("the folder is still locked: %v", err)
		}
	}
}

func TestDataThatCannotBeUsed(t *testing.T) {
	empty := data.Load(data.Of([]point{}), data.Pairs(data.Copy[vector, float32]), data.LoaderOptions{Batch: 4})
	bad := data.Load(data.Map(data.Of(points(9)), func(p point) (point, error) {
		if p.Y == points(9)[5].Y {
			return p, errors.New("bad item")
		}
		return p, nil
	}), data.Pairs(data.Copy[vector, float32]), data.LoaderOptions{Batch: 4})
	for _, tt := range []struct {
		train, valid *toyLoader
		want         string
	}{
		{nil, nil, "learn: no training data"},
		{empty, nil, "learn: training data: load: the data set has no items"},
		{loaded(9, 0, false), nil, "learn: training data: load: batches of 0 items"},
		{loaded(9, 4, false), empty, "learn: validation data: load: the data set has no items"},
		{bad, nil, "item 5: bad item"},
		{loaded(9, 4, false), bad, "evaluation: batch 2: item 5: bad item"},
	} {
		_, err := newRig(t, t.TempDir(), nil).learner.Fit(t.Context(), tt.train, tt.valid)
		wantError(t, err, tt.want)
	}
	r := newRig(t, "", nil)
	r.learner.task.Eval = nil
	_, err := r.fit(t.Context())
	wantError(t, err, "validation data, but the task has no Eval")
	nothing := data.Load(data.Of(points(4)), data.Whole(func([]point, *set, *rand.Rand) error { return nil }), data.LoaderOptions{Batch: 4})
	_, err = newRig(t, "", nil).learner.Fit(t.Context(), nothing, nil)
	wantError(t, err, "no batch of the epoch has items")
}

func TestContextEnds(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	r := newRig(t, dir, func(o *Options) { o.SaveEvery = 1 })
	r.show.on = func(e Event) {
		if s, ok := e.(Stepped); ok && s.Epoch == 1 && s.Batch == 2 {
			cancel(cause)
		}
	}
	run, err := r.fit(ctx)
	if !errors.Is(err, cause) || run.Stopped.Reason != "enough" || run.Stopped.Done {
		t.Errorf("error %v, stopped %+v", err, run.Stopped)
	}
	if r.toy.ctx == ctx {
		t.Error("the trainer still has the context")
	}
	whole := t.TempDir()
	newRig(t, whole, nil).mustFit(t)
	newRig(t, dir, func(o *Options) { o.Resume = Continue }).mustFit(t)
	sameRun(t, dir, whole)
}

// fixedMachine measures the same value each time, and panics in the end.
type fixedMachine struct{ left int }

func (m *fixedMachine) Series() []Series { return []Series{{Name: "memory", Unit: "MB"}} }

func (m *fixedMachine) Measure() []Value {
	if m.left--; m.left < 0 {
		panic("no machine")
	}
	return []Value{{Name: "memory", Value: 5}}
}

func TestMachine(t *testing.T) {
	r := newRig(t, "", func(o *Options) { o.System, o.SystemEvery = &fixedMachine{left: 3}, 1 })
	r.mustFit(t)
	n, warned := 0, ""
	for _, e := range r.show.events {
		switch e := e.(type) {
		case Measured:
			if e.Split == System && e.Values[0].Value == 5 {
				n++
			}
		case Warned:
			warned += e.Message
		}
	}
	if n != 3 || !strings.Contains(warned, "not measured any more: system: panic: no machine") {
		t.Errorf("%d measurements, %q", n, warned)
	}
	if s := r.show.events[0].(Started).System; len(s) != 1 || s[0].Name != "memory" {
		t.Errorf("series %v", s)
	}
}

// mallocs returns how often f allocates.
func mallocs(f func()) float64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs - before.Mallocs)
}

// TestAllocations bounds the memory that a run allocates for a batch, besides the trainer, the optimizer
// and the counters.
func TestAllocations(t *testing.T) {
	const few, many = 100, 2100
	train := loaded(8*many, 8, false)
	toyWithSGD := func() (*toy, *optim.SGD) {
		m := newToy(t)
		sgd, err := optim.NewSGD(m.params, optim.SGDConfig{})
		if err != nil {
			t.Fatal(err)
		}
		return m, sgd
	}
	byHand := func(steps int) float64 {
		m, sgd := toyWithSGD()
		loss, all, recent := metric.Loss[metric.Values]().New(), metric.MAE().New(), metric.MAE().New()
		return mallocs(func() {
			for b, err := range train.Epoch(t.Context(), 0, 0) {
				r, failed := m.step(b.X, b.Y)
				if err = errors.Join(err, failed, sgd.Step(0.01)); err != nil {
					t.Fatal(err)
				}
				o := valuesOf(b.X, b.Y, r)
				loss.Add(o)
				all.Add(o)
				recent.Add(o)
				if steps--; steps == 0 {
					return
				}
			}
		})
	}
	learned := func(show Renderer, dir string) func(steps int) float64 {
		return func(steps int) float64 {
			m, sgd := toyWithSGD()
			o := Options{Steps: steps, Recent: 1 << 20, Show: show, Optimizers: []Optimizer{{Of: sgd, Rate: optim.Constant(0.01)}}}
			if dir != "" {
				o.Dir, o.Resume = dir, Fresh
			}
			l, err := New(m, m.task(), o, metric.MAE())
			if err != nil {
				t.Fatal(err)
			}
			return mallocs(func() {
				if _, err := l.Fit(t.Context(), train, nil); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
	perBatch := func(f func(steps int) float64) float64 {
		f(10)
		return (f(many) - f(few)) / (many - few)
	}
	hand := perBatch(byHand)
	for _, tt := range []struct {
		name string
		f    func(int) float64
		most float64
	}{{"alone", learned(nil, ""), 0.1}, {"with a renderer", learned(&recorder{}, ""), 1.2}, {"with a folder", learned(nil, t.TempDir()), 16}} {
		if n := perBatch(tt.f) - hand; n > tt.most {
			t.Errorf("%s: a batch allocates %.2f times, want %g", tt.name, n, tt.most)
		}
	}
}

// BenchmarkBatch measures what a run adds to a step, which takes almost no time here.
func BenchmarkBatch(b *testing.B) {
	for _, dir := range []bool{false, true} {
		b.Run(fmt.Sprint("folder=", dir), func(b *testing.B) {
			m := newToy(b)
			sgd, err := optim.NewSGD(m.params, optim.SGDConfig{})
			if err != nil {
				b.Fatal(err)
			}
			o := Options{Steps: b.N, Optimizers: []Optimizer{{Of: sgd, Rate: optim.Constant(0.01)}}}
			if dir {
				o.Dir = b.TempDir()
			}
			l, err := New(m, m.task(), o, metric.MAE())
			if err != nil {
				b.Fatal(err)
			}
			train := loaded(8*100000, 8, false)
			b.ResetTimer()
			if _, err := l.Fit(b.Context(), train, nil); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// TestRunIsTold asserts that a report, the end of a renderer, and Options.State have their turn.
func TestRunIsTold(t *testing.T) {
	dir := t.TempDir()
	own := data.NewStandardizer(2)
	closed := &closing{}
	reported := ""
	r := newRig(t, dir, func(o *Options) {
		o.Epochs, o.Show = 1, closed
		o.State = map[string]rt.Stater{"columns": own}
		o.Report = func(dir string) error {
			reported = dir
			panic("no report")
		}
	})
	r.mustFit(t)
	if reported != dir || closed.closed != 1 || stateOf(t, dir)["state-columns/mean"] == "" {
		t.Errorf("reported %q, closed %d times, state %q", reported, closed.closed, stateOf(t, dir)["state-columns/mean"])
	}
	if _, ok := closed.events[len(closed.events)-1].(Stopped); !ok {
		t.Errorf("the last event is %+v", closed.events[len(closed.events)-1])
	}
}

type closing struct {
	recorder
	closed int
}

func (c *closing) Close() error {
	c.closed++
	return nil
}
