// Package trains tests a generated Trainer. The model is a perceptron of 6 features and 3 scores
// whose loss is the mean of squares.
package trains

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/burngen/burngen/runtime/rt"

	"program/model"
)

const batch = 8

func trainer(t *testing.T, o model.TrainerOptions) *model.Trainer {
	t.Helper()
	m, err := model.Load()
	if err != nil {
		t.Fatal(err)
	}
	if o.Batch == 0 {
		o.Batch = batch
	}
	tr, err := m.NewTrainer(o)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// data draws a batch.
func data(seed uint32) ([]model.X, []model.Target) {
	x, y := make([]model.X, batch), make([]model.Target, batch)
	rt.Uniform(rt.Flat[float32](x), -1, 1, seed)
	rt.Uniform(rt.Flat[float32](y), -1, 1, seed+1)
	return x, y
}

// descend is a step of gradient descent.
func descend(p *rt.Params, rate float32) {
	for i := range p.Items {
		w, g := p.Value(i), p.Gradient(i)
		for k := range w {
			w[k] -= float32(rate * g[k])
		}
	}
	p.UseUp()
}

func near(a, b float32, tolerance float64) bool {
	return math.Abs(float64(a)-float64(b)) <= tolerance*(1+math.Abs(float64(b)))
}

func TestGradientsAreDifferencesOfTheLoss(t *testing.T) {
	tr := trainer(t, model.TrainerOptions{})
	x, y := data(1)
	if _, err := tr.Step(x, y); err != nil {
		t.Fatal(err)
	}
	p := tr.Params()
	const h = 1. / 64
	for i, it := range p.Items {
		w, g := p.Value(i), p.Gradient(i)
		for _, k := range []int{0, len(w) / 2, len(w) - 1} {
			at := func(d float32) float64 {
				was := w[k]
				defer func() { w[k] = was }()
				w[k] += d
				r, err := tr.Loss(x, y)
				if err != nil {
					t.Fatal(err)
				}
				return float64(r.Loss)
			}
			if want := (at(h) - at(-h)) / (2 * h); !near(g[k], float32(want), 1e-3) {
				t.Errorf("%s: the gradient of element %d is %g, differences say %g", it.Name, k, g[k], want)
			}
		}
	}
}

func TestStepsAccumulate(t *testing.T) {
	whole, parts := trainer(t, model.TrainerOptions{}), trainer(t, model.TrainerOptions{})
	x, y := data(3)
	if _, err := whole.Step(x, y); err != nil {
		t.Fatal(err)
	}
	const n = 4
	for k := range n {
		lo, hi := k*batch/n, (k+1)*batch/n
		if _, err := parts.Step(x[lo:hi], y[lo:hi]); err != nil {
			t.Fatal(err)
		}
	}
	parts.Params().Scale(1. / n)
	for k, g := range parts.Params().Grad {
		if want := whole.Params().Grad[k]; !near(g, want, 1e-5) {
			t.Fatalf("element %d of the gradients is %g in four parts, %g at once", k, g, want)
		}
	}
}

func TestGradientsThatAreUsedUpAreReplaced(t *testing.T) {
	tr := trainer(t, model.TrainerOptions{})
	x, y := data(5)
	var first []float32
	for range 3 {
		if _, err := tr.Step(x, y); err != nil {
			t.Fatal(err)
		}
		got := tr.Params().Grad
		if first == nil {
			first = slices.Clone(got)
		}
		if !slices.Equal(got, first) {
			t.Fatal("the gradients of the same step differ")
		}
		tr.Params().UseUp()
	}
}

func TestFrozenParametersStay(t *testing.T) {
	free := trainer(t, model.TrainerOptions{})
	x, y := data(7)
	if _, err := free.Step(x, y); err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"fc1", "fc2", "**.bias", "fc1.weight", "fc2.bias"} {
		t.Run(pattern, func(t *testing.T) {
			tr := trainer(t, model.TrainerOptions{Freeze: []string{pattern}})
			if _, err := tr.Step(x, y); err != nil {
				t.Fatal(err)
			}
			all, some := free.Params(), tr.Params()
			for i, it := range all.Items {
				k := slices.IndexFunc(some.Items, func(p rt.Param) bool { return p.Name == it.Name })
				frozen, err := rt.MatchName(pattern, it.Name)
				if err != nil {
					t.Fatal(err)
				}
				if frozen != (k < 0) {
					t.Fatalf("%s: frozen is %t, index among the parameters %d", it.Name, frozen, k)
				}
				if k >= 0 && !slices.Equal(some.Gradient(k), all.Gradient(i)) {
					t.Errorf("%s has another gradient", it.Name)
				}
			}
			descend(some, 0.1)
			m, err := model.Load()
			if err != nil {
				t.Fatal(err)
			}
			before, after := saved(t, m), saved(t, tr.Model())
			for _, name := range before.Names() {
				frozen, err := rt.MatchName(pattern, name)
				if err != nil {
					t.Fatal(err)
				}
				if same := string(before.Raw(name)) == string(after.Raw(name)); same != frozen {
					t.Errorf("%s: frozen is %t, unchanged is %t", name, frozen, same)
				}
			}
		})
	}
}

// TestFreezeBetweenSteps asserts that a parameter that is frozen between steps stays as it is, that the others
// get the gradients that they get without it, and that it is trained again after Unfreeze.
func TestFreezeBetweenSteps(t *testing.T) {
	x, y := data(7)
	free := trainer(t, model.TrainerOptions{})
	if _, err := free.Step(x, y); err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"fc1", "fc2", "**.bias", "fc1.weight", "fc2.bias"} {
		t.Run(pattern, func(t *testing.T) {
			tr := trainer(t, model.TrainerOptions{})
			p := tr.Params()
			for _, way := range []struct {
				name   string
				change func() error
				frozen bool
				times  float32 // steps whose gradients were added
			}{
				{"not yet", func() error { return nil }, false, 1},
				{"frozen, with gradients of others present", func() error { return tr.Freeze(pattern) }, true, 2},
				{"frozen, without", func() error { p.UseUp(); return nil }, true, 1},
				{"no longer", func() error { p.UseUp(); return tr.Unfreeze(pattern) }, false, 1},
			} {
				if err := way.change(); err != nil {
					t.Fatal(err)
				}
				if _, err := tr.Step(x, y); err != nil {
					t.Fatal(err)
				}
				for i, it := range p.Items {
					match, err := rt.MatchName(pattern, it.Name)
					if err != nil {
						t.Fatal(err)
					}
					if p.Fresh(i) == (match && way.frozen) {
						t.Errorf("%s: %s has a gradient: %t", way.name, it.Name, p.Fresh(i))
					}
					if match && way.frozen {
						continue
					}
					for k, g := range p.Gradient(i) {
						if want := way.times * free.Params().Gradient(i)[k]; g != want {
							t.Fatalf("%s: gradient %d of %s is %g, want %g", way.name, k, it.Name, g, want)
						}
					}
				}
			}
		})
	}
}

func TestFreezeErrors(t *testing.T) {
	tr := trainer(t, model.TrainerOptions{Freeze: []string{"fc1.bias"}})
	for _, c := range []struct {
		got  error
		want string
	}{
		{tr.Freeze("fc3", "["), "pattern \"fc3\" matches no parameter"},
		{tr.Freeze("**"), "nothing would be left to train"},
		{tr.Unfreeze("fc1.bias"), "pattern \"fc1.bias\" matches only what TrainerOptions.Freeze excludes"},
		{tr.Unfreeze("fc3"), "pattern \"fc3\" matches no parameter"},
		{(&model.Trainer{}).Freeze("fc1"), rt.ErrNoTrainer.Error()},
	} {
		if c.got == nil || !strings.Contains(c.got.Error(), c.want) {
			t.Errorf("got %v, want %q", c.got, c.want)
		}
	}
	x, y := data(7)
	if _, err := tr.Step(x, y); err != nil || !tr.Params().Fresh(0) {
		t.Errorf("a refused Freeze froze something, or %v", err)
	}
	if err := errors.Join(tr.Freeze("fc2"), tr.Unfreeze("fc1")); err != nil {
		t.Error(err)
	}
}

// saved returns the weights that a model saves.
func saved(t *testing.T, m *model.Model) *rt.Weights {
	t.Helper()
	path := filepath.Join(t.TempDir(), "w.safetensors")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	w := rt.OpenWeightsFile(path)
	if err := w.Err(); err != nil {
		t.Fatal(err)
	}
	return w
}

func TestModelIsWhatWasTrained(t *testing.T) {
	tr := trainer(t, model.TrainerOptions{})
	x, y := data(9)
	var losses []float32
	for range 20 {
		r, err := tr.Step(x, y)
		if err != nil {
			t.Fatal(err)
		}
		losses = append(losses, r.Loss)
		descend(tr.Params(), 0.5)
	}
	if last := losses[len(losses)-1]; !(last < losses[0]/2) {
		t.Errorf("the loss went from %g to %g", losses[0], last)
	}
	want, err := tr.Forward(x)
	if err != nil {
		t.Fatal(err)
	}
	m := tr.Model()
	loaded, err := model.LoadFrom(saved(t, m))
	if err != nil {
		t.Fatal(err)
	}
	for what, m := range map[string]*model.Model{"snapshot": m, "loaded": loaded} {
		got, err := m.Forward(x)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			for k := range want[i] {
				if !near(got[i][k], want[i][k], 1e-5) {
					t.Fatalf("%s: item %d is %v, the trainer computes %v", what, i, got[i], want[i])
				}
			}
		}
	}
}

func TestResumedTrainingIsTheSame(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.safetensors")
	train := func(tr *model.Trainer, from, to int) {
		for k := from; k < to; k++ {
			x, y := data(uint32(11 + k))
			if _, err := tr.Step(x, y); err != nil {
				t.Fatal(err)
			}
			descend(tr.Params(), 0.1)
		}
	}
	whole := trainer(t, model.TrainerOptions{Seed: 3})
	train(whole, 0, 4)
	if err := rt.SaveState(path, map[string]rt.Stater{"model": whole}); err != nil {
		t.Fatal(err)
	}
	train(whole, 4, 8)
	resumed := trainer(t, model.TrainerOptions{Seed: 4})
	if err := rt.LoadState(path, map[string]rt.Stater{"model": resumed}); err != nil {
		t.Fatal(err)
	}
	train(resumed, 4, 8)
	if !slices.Equal(whole.Params().Data, resumed.Params().Data) {
		t.Error("the weights differ")
	}
}

// seeds returns the gradient of the mean of squares.
func seeds(scores []model.Scores, y []model.Target) []model.Scores {
	d := make([]model.Scores, len(scores))
	for i := range d {
		for k := range d[i] {
			d[i][k] = 2 * (scores[i][k] - y[i][k]) / float32(len(d)*len(d[i]))
		}
	}
	return d
}

func TestTheCallersOwnLoss(t *testing.T) {
	own, built := trainer(t, model.TrainerOptions{}), trainer(t, model.TrainerOptions{})
	x, y := data(17)
	if _, err := built.Step(x, y); err != nil {
		t.Fatal(err)
	}
	compare := func(factor float32) {
		t.Helper()
		for k, g := range own.Params().Grad {
			if want := factor * built.Params().Grad[k]; !near(g, want, 1e-5) {
				t.Fatalf("element %d of the gradients is %g, a step's is %g", k, g, want)
			}
		}
	}
	for k := range 2 { // the second time they are added
		scores, err := own.TrainForward(x)
		if err != nil {
			t.Fatal(err)
		}
		if err := own.Backward(seeds(scores, y)); err != nil {
			t.Fatal(err)
		}
		compare(float32(k + 1))
	}
}

func TestBackwardFollowsTrainForward(t *testing.T) {
	tr := trainer(t, model.TrainerOptions{})
	x, y := data(19)
	d := make([]model.Scores, batch)
	for what, before := range map[string]func() error{
		"nothing": func() error { return nil },
		"Step":    func() error { _, err := tr.Step(x, y); return err },
		"Forward": func() error { _, err := tr.Forward(x); return err },
		"itself": func() error {
			if _, err := tr.TrainForward(x); err != nil {
				return err
			}
			return tr.Backward(d)
		},
		"another Step": func() error {
			if _, err := tr.TrainForward(x); err != nil {
				return err
			}
			_, err := tr.Step(x, y)
			return err
		},
	} {
		t.Run("after "+what, func(t *testing.T) {
			if err := before(); err != nil {
				t.Fatal(err)
			}
			if err := tr.Backward(d); err == nil || !strings.Contains(err.Error(), "TrainForward") {
				t.Errorf("got %v", err)
			}
		})
	}
	scores, err := tr.TrainForward(x)
	if err != nil {
		t.Fatal(err)
	}
	if err := tr.Backward(d[:1]); err == nil {
		t.Error("no error for too few gradients")
	}
	if err := tr.Backward(scores); err == nil {
		t.Error("no error for gradients in the memory of the results")
	}
	if err := tr.Backward(d); err != nil {
		t.Errorf("after mistakes: %v", err)
	}
}

func TestMistakes(t *testing.T) {
	m, err := model.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		o    model.TrainerOptions
		want []string
	}{
		{"no batch", model.TrainerOptions{}, []string{"batch 0"}},
		{"unknown pattern", model.TrainerOptions{Batch: 1, Freeze: []string{"fc3"}}, []string{`"fc3" matches no parameter`}},
		{"nothing left", model.TrainerOptions{Batch: 1, Freeze: []string{"**"}}, []string{"nothing to train"}},
		{"two at once", model.TrainerOptions{Batch: -1, Freeze: []string{"fc3"}}, []string{"batch -1", "fc3"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := m.NewTrainer(c.o)
			for _, want := range c.want {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want %q", err, want)
				}
			}
		})
	}
	tr := trainer(t, model.TrainerOptions{Batch: batch - 1})
	x, y := data(1)
	if _, err := tr.Step(x, y); err == nil || !strings.Contains(err.Error(), "batch of 8") {
		t.Errorf("a batch that is too large: %v", err)
	}
	if _, err := tr.Step(x[:2], y[:3]); err == nil {
		t.Error("no error for targets of another number")
	}
	if !tr.Params().UsedUp() {
		t.Error("a step that failed leaves gradients")
	}
}

func TestNaNNamesTheNode(t *testing.T) {
	tr := trainer(t, model.TrainerOptions{CheckNaN: true})
	x, y := data(13)
	if _, err := tr.Step(x, y); err != nil {
		t.Fatal(err)
	}
	tr.Params().UseUp()
	tr.Params().Match("fc2.bias").Value(0)[0] = float32(math.NaN())
	if _, err := tr.Step(x, y); err == nil || !strings.Contains(err.Error(), `"second"`) {
		t.Errorf("got %v, want the node that computed a NaN first", err)
	}
	if !tr.Params().UsedUp() {
		t.Error("gradients are there")
	}
}

func TestStepsDoNotAllocate(t *testing.T) {
	tr := trainer(t, model.TrainerOptions{})
	x, y := data(15)
	d := make([]model.Scores, batch)
	for _, c := range []struct {
		name string
		run  func() error
	}{
		{"Step", func() error { _, err := tr.Step(x, y); tr.Params().UseUp(); return err }},
		{"accumulating Step", func() error { _, err := tr.Step(x, y); return err }},
		{"TrainForward", func() error {
			if _, err := tr.TrainForward(x); err != nil {
				return err
			}
			tr.Params().UseUp()
			return tr.Backward(d)
		}},
		{"Forward", func() error { _, err := tr.Forward(x); return err }},
		{"Loss", func() error { _, err := tr.Loss(x, y); return err }},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := testing.AllocsPerRun(20, func() {
				if err := c.run(); err != nil {
					t.Fatal(err)
				}
			})
			if n != 0 {
				t.Errorf("%v allocations", n)
			}
		})
	}
}

// lateContext ends when it has been asked a number of times whether it has.
type lateContext struct {
	context.Context
	left atomic.Int64
}

func endsAfter(ctx context.Context, asks int64) *lateContext {
	late := &lateContext{Context: ctx}
	late.left.Store(asks)
	return late
}

func (c *lateContext) Err() error {
	if c.left.Add(-1) >= 0 {
		return nil
	}
	return context.Canceled
}

// TestStepEndsWhereverItsContextDoes ends steps at every place that checks the context. Such a step
// must not change anything. The next step must give the same as a first step.
func TestStepEndsWhereverItsContextDoes(t *testing.T) {
	const many = 1 << 40
	never, cancel := context.WithCancel(context.Background()) // whose Done is not nil
	defer cancel()
	x, y := data(19)
	want, tr := trainer(t, model.TrainerOptions{Seed: 3}), trainer(t, model.TrainerOptions{Seed: 3})
	whole := endsAfter(never, many)
	want.SetContext(whole)
	loss, err := want.Step(x, y)
	if err != nil {
		t.Fatal(err)
	}
	asks := many - whole.left.Load()
	if asks < 3 {
		t.Errorf("a step asks %d times", asks)
	}
	for n := range asks {
		tr.SetContext(endsAfter(never, n))
		if _, err := tr.Step(x, y); !errors.Is(err, context.Canceled) {
			t.Errorf("a context that ends when it is asked %d times of %d: error %v", n, asks, err)
		}
	}
	tr.SetContext(nil)
	got, err := tr.Step(x, y)
	if err != nil || !reflect.DeepEqual(got, loss) {
		t.Errorf("results %v, %v, want %v", got, err, loss)
	}
	if !slices.Equal(tr.Params().Grad, want.Params().Grad) {
		t.Error("other gradients than of a first step")
	}
	states := make([]string, 2)
	for i, tr := range []*model.Trainer{want, tr} {
		w, err := rt.CollectState(map[string]rt.Stater{"t": tr})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range w.Names() {
			states[i] += name + string(w.Raw(name))
		}
	}
	if states[0] != states[1] {
		t.Error("another state than after a first step")
	}
}

// TestTrainersThatAreNotOpenReturnErrors calls the methods of trainers that NewTrainer did not
// make.
func TestTrainersThatAreNotOpenReturnErrors(t *testing.T) {
	x, y := data(19)
	for name, tr := range map[string]*model.Trainer{"a nil trainer": nil, "the zero trainer": {}} {
		_, step := tr.Step(x, y)
		_, forward := tr.Forward(x)
		_, train := tr.TrainForward(x)
		for method, err := range map[string]error{"Step": step, "Forward": forward, "TrainForward": train, "Backward": tr.Backward(nil)} {
			if !errors.Is(err, rt.ErrNoTrainer) {
				t.Errorf("%s: %s: error %v", name, method, err)
			}
		}
	}
	for name, m := range map[string]*model.Model{"a nil model": nil, "the zero model": {}} {
		_, train := m.NewTrainer(model.TrainerOptions{Batch: 1})
		for method, err := range map[string]error{"NewTrainer": train, "Save": m.Save(t.TempDir() + "/w")} {
			if !errors.Is(err, rt.ErrNoModel) {
				t.Errorf("%s: %s: error %v", name, method, err)
			}
		}
	}
}
