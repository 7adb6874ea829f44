package learn

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/burngen/burngen/runtime/data"
	"github.com/burngen/burngen/runtime/metric"
	"github.com/burngen/burngen/runtime/optim"
)

// trainedBy returns the weights after an epoch of plain gradient descent.
func trainedBy(t *testing.T, train *toyLoader, change func(*Options, *Task[set, metric.Values])) []float32 {
	t.Helper()
	m := newToy(t)
	sgd, err := optim.NewSGD(m.params, optim.SGDConfig{})
	if err != nil {
		t.Fatal(err)
	}
	o, task := Options{Epochs: 1, Optimizers: []Optimizer{{Of: sgd, Rate: optim.Constant(0.1)}}}, m.task()
	if change != nil {
		change(&o, &task)
	}
	l, err := New(m, task, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Fit(t.Context(), train, nil); err != nil {
		t.Fatal(err)
	}
	return m.params.Data
}

func accumulating(n int) func(*Options, *Task[set, metric.Values]) {
	return func(o *Options, _ *Task[set, metric.Values]) { o.Accumulate = n }
}

// nearly reports whether vectors are equal to rounding.
func nearly(a, b []float32) bool {
	for i := range a {
		if math.Abs(float64(a[i]-b[i])) > 2e-6*(1+math.Abs(float64(b[i]))) {
			return false
		}
	}
	return len(a) == len(b)
}

// TestAccumulationIsTheMeanOverItems compares steps of several batches with steps of one large batch, also
// if the last batch or the last group is short.
func TestAccumulationIsTheMeanOverItems(t *testing.T) {
	for _, items := range []int{64, 192, 70, 100, 130, 15, 16} {
		want := trainedBy(t, loaded(items, 64, false), nil)
		got := trainedBy(t, loaded(items, 16, false), accumulating(4))
		if !nearly(got, want) {
			t.Errorf("%d items: %v, want %v", items, got, want)
		}
		if plain := trainedBy(t, loaded(items, 16, false), nil); items > 16 && nearly(plain, want) {
			t.Errorf("%d items: accumulation does nothing", items)
		}
	}
}

// chosen returns a loader of the points for which keep is true. The others are padding, which is left out
// of the batches.
func chosen(n, batch int, keep func(i int) bool) *toyLoader {
	list := points(n)
	for i := range list {
		if !keep(i) {
			list[i].Y = float32(math.NaN())
		}
	}
	put := data.Whole(func(items []point, b *set, _ *rand.Rand) error {
		b.X, b.Y = b.X[:0], b.Y[:0]
		for _, p := range items {
			if p.Y == p.Y {
				b.X, b.Y = append(b.X, p.X), append(b.Y, p.Y)
			}
		}
		return nil
	})
	return data.Load(data.Of(list), put, data.LoaderOptions{Batch: batch, Workers: data.Inline})
}

// TestAccumulationOfUnevenBatches asserts that items weigh the same if batches have 8 items and 1 item in
// turns.
func TestAccumulationOfUnevenBatches(t *testing.T) {
	keep := func(i int) bool { return i/8%2 == 0 || i%8 == 0 }
	want := trainedBy(t, chosen(32, 32, keep), nil)
	if got := trainedBy(t, chosen(32, 8, keep), accumulating(4)); !nearly(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestSum asserts that the gradients of the batches of a step are added.
func TestSum(t *testing.T) {
	sum := trainedBy(t, loaded(32, 16, false), func(o *Options, _ *Task[set, metric.Values]) { o.Accumulate, o.Sum = 2, true })
	mean := trainedBy(t, loaded(32, 32, false), func(o *Options, _ *Task[set, metric.Values]) { o.Optimizers[0].Rate = optim.Constant(0.2) })
	if !nearly(sum, mean) {
		t.Errorf("%v, want %v", sum, mean)
	}
}

// TestBatchesOfPadding asserts that a batch without items changes nothing, alone or in a group.
func TestBatchesOfPadding(t *testing.T) {
	padded := func(batch int) *toyLoader { // the second of each two batches of four has no items
		return chosen(16, batch, func(i int) bool { return i/4%2 == 0 })
	}
	alone := trainedBy(t, padded(4), nil)
	for _, w := range alone {
		if w != w {
			t.Fatalf("weights are %v", alone)
		}
	}
	if want := trainedBy(t, padded(8), nil); !nearly(alone, want) {
		t.Errorf("alone: %v, want %v", alone, want)
	}
	if got, want := trainedBy(t, padded(4), accumulating(4)), trainedBy(t, padded(16), nil); !nearly(got, want) {
		t.Errorf("in a group: %v, want %v", got, want)
	}
}

func TestItemsThatAreWrong(t *testing.T) {
	for want, items := range map[string]func(*set) int{
		"the loss is of 16 items, but the task's Items says 15": func(b *set) int { return len(b.X) - 1 },
		"the task's Items says -1 items":                        func(*set) int { return -1 },
	} {
		m := newToy(t)
		sgd, err := optim.NewSGD(m.params, optim.SGDConfig{})
		if err != nil {
			t.Fatal(err)
		}
		task := m.task()
		task.Items = items
		l, err := New(m, task, Options{Epochs: 1, Accumulate: 2, Optimizers: []Optimizer{{Of: sgd, Rate: optim.Constant(0.1)}}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = l.Fit(t.Context(), loaded(64, 16, false), nil)
		wantError(t, err, "epoch 1, batch 1, step 1: "+want)
	}
}

// TestClipping compares one step with a step by hand.
func TestClipping(t *testing.T) {
	for _, tt := range []struct{ norm, value float64 }{{0.5, 0}, {0, 0.1}, {3, 0.2}, {1e9, 1e9}} {
		got := trainedBy(t, loaded(8, 8, false), func(o *Options, _ *Task[set, metric.Values]) { o.ClipNorm, o.ClipValue = tt.norm, tt.value })
		m := newToy(t)
		b := points(8)
		x, y := make([]vector, 8), make([]float32, 8)
		for i, p := range b {
			x[i], y[i] = p.X, p.Y
		}
		if _, err := m.step(x, y); err != nil {
			t.Fatal(err)
		}
		if tt.norm > 0 {
			m.params.ClipNorm(tt.norm)
		}
		if tt.value > 0 {
			m.params.ClipValue(tt.value)
		}
		sgd, err := optim.NewSGD(m.params, optim.SGDConfig{})
		if err != nil {
			t.Fatal(err)
		}
		if err := sgd.Step(0.1); err != nil {
			t.Fatal(err)
		}
		if !nearly(got, m.params.Data) {
			t.Errorf("%+v: %v, want %v", tt, got, m.params.Data)
		}
	}
}

// TestTaskThatSteps trains without optimizers: the task changes the weights.
func TestTaskThatSteps(t *testing.T) {
	m := newToy(t)
	steps := 0
	task := m.task()
	task.Step = func(b *set) (metric.Values, error) {
		steps++
		r, err := m.loss(b.X, b.Y)
		m.params.Data[0]++
		return valuesOf(b.X, b.Y, r), err
	}
	l, err := New(m, task, Options{Steps: 5, Average: EMA(0.5)})
	if err != nil {
		t.Fatal(err)
	}
	run, err := l.Fit(t.Context(), loaded(24, 8, false), nil)
	if err != nil || steps != 5 || run.Stopped.Step != 5 || !nearly(m.params.Data[:1], []float32{5.1}) {
		t.Errorf("%d steps, %+v, weight %g, %v", steps, run, m.params.Data[0], err)
	}
}
