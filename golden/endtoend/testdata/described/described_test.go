// Package described holds the promises of a trainer of a described model to tests: a
// convolution, a batch normalisation, dropout and two layers, with two losses.
package described

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/burngen/burngen/runtime/rt"

	"program/model"
)

const batch = 16

func trainer(t *testing.T, seed uint64, freeze ...string) *model.Trainer {
	t.Helper()
	tr, err := model.New(7).NewTrainer(model.TrainerOptions{Batch: batch, Seed: seed, Freeze: freeze})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// data draws images; the class of each is where it is bright.
func data(seed uint32) ([]model.Image, []int64) {
	x, y := make([]model.Image, batch), make([]int64, batch)
	rt.Uniform(rt.Flat[float32](x), 0, 0.5, seed)
	for i := range x {
		y[i] = int64((uint32(i) + seed) % 4)
		for k := range 4 {
			for l := range 4 {
				x[i][int(y[i])/2*4+k][int(y[i])%2*4+l]++
			}
		}
	}
	return x, y
}

// descend is a step of gradient descent.
func descend(p *rt.Params, rate float32) {
	for i := range p.Items {
		if !p.Fresh(i) {
			continue
		}
		w, g := p.Value(i), p.Gradient(i)
		for k := range w {
			w[k] -= float32(rate * g[k])
		}
	}
	p.UseUp()
}

// saved returns the bytes of a tensor that a model saves.
func saved(t *testing.T, m *model.Model, name string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "w.safetensors")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	w := rt.OpenWeightsFile(path)
	if err := w.Err(); err != nil {
		t.Fatal(err)
	}
	return bytes.Clone(w.Raw(name))
}

func TestNewDependsOnTheSeedOnly(t *testing.T) {
	a, b, c := saved(t, model.New(1), "fc1.weight"), saved(t, model.New(1), "fc1.weight"), saved(t, model.New(2), "fc1.weight")
	if len(a) == 0 || !bytes.Equal(a, b) || bytes.Equal(a, c) {
		t.Error("weights of one seed differ, or those of two are equal")
	}
}

func TestItLearns(t *testing.T) {
	tr := trainer(t, 1)
	var first, last float32
	for k := range 60 {
		x, y := data(uint32(k))
		r, err := tr.Step(x, y)
		if err != nil {
			t.Fatal(err)
		}
		if first == 0 {
			first = r.Loss
		}
		last = r.Loss
		if len(r.Logits) != batch {
			t.Fatalf("%d logits", len(r.Logits))
		}
		descend(tr.Params(), 0.1)
	}
	if !(last < first/2) {
		t.Errorf("the loss went from %g to %g", first, last)
	}
	x, y := data(100)
	logits, err := tr.Forward(x)
	if err != nil {
		t.Fatal(err)
	}
	right := 0
	for i, l := range logits {
		if slices.Index(l[:], slices.Max(l[:])) == int(y[i]) {
			right++
		}
	}
	if right < batch*3/4 {
		t.Errorf("%d of %d are right", right, batch)
	}
	prepared, err := tr.Model().Forward(x)
	if err != nil {
		t.Fatal(err)
	}
	for i := range prepared {
		for k, v := range prepared[i] {
			if d := v - logits[i][k]; d > 1e-3 || d < -1e-3 {
				t.Fatalf("item %d: the snapshot computes %v, the trainer %v", i, prepared[i], logits[i])
			}
		}
	}
}

// weights returns the weights after a few steps.
func weights(t *testing.T, seed uint64) []float32 {
	tr := trainer(t, seed)
	for k := range 3 {
		x, y := data(uint32(k))
		if _, err := tr.Step(x, y); err != nil {
			t.Fatal(err)
		}
		descend(tr.Params(), 0.1)
	}
	return tr.Params().Data
}

func TestRandomNumbersFollowFromTheSeed(t *testing.T) {
	a, c := weights(t, 1), weights(t, 2)
	if slices.Equal(a, c) {
		t.Error("two seeds drop the same elements")
	}
	defer rt.Threads(rt.Threads(1))
	one := weights(t, 1)
	rt.Threads(2)
	if two := weights(t, 1); !slices.Equal(a, one) || !slices.Equal(one, two) {
		t.Error("the weights depend on the number of threads")
	}
}

func TestStatisticsMoveOncePerStep(t *testing.T) {
	const mean = "norm.running_mean"
	begin := saved(t, model.New(7), mean)
	x, y := data(1)
	for _, c := range []struct {
		freeze string
		moves  bool
	}{{"fc1", true}, {"norm", false}, {"norm.running_mean", false}, {"norm.bias", true}} {
		tr := trainer(t, 1, c.freeze)
		if _, err := tr.Step(x, y); err != nil {
			t.Fatal(err)
		}
		if got := saved(t, tr.Model(), mean); bytes.Equal(got, begin) == c.moves {
			t.Errorf("frozen %s: the mean moves: %t, want %t", c.freeze, !c.moves, c.moves)
		}
		if _, err := tr.Forward(x); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLossesKeepTheirGradientsApart(t *testing.T) {
	tr := trainer(t, 1)
	x, _ := data(1)
	// The second loss is of the second layer's weights alone.
	if _, err := tr.StepDecay(x); err != nil {
		t.Fatal(err)
	}
	p := tr.Params()
	for i, it := range p.Items {
		if want := it.Name == "fc2.weight"; p.Fresh(i) != want {
			t.Errorf("%s: the gradient is there: %t, want %t", it.Name, !want, want)
		}
	}
	i := slices.IndexFunc(p.Items, func(it rt.Param) bool { return it.Name == "fc2.weight" })
	for k, g := range p.Gradient(i) {
		if want := 2 * p.Value(i)[k]; g != want {
			t.Fatalf("element %d is %g, want %g", k, g, want)
		}
	}
}

func TestStateIsRestored(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	train := func(tr *model.Trainer, from, to int) {
		for k := from; k < to; k++ {
			x, y := data(uint32(k))
			if _, err := tr.Step(x, y); err != nil {
				t.Fatal(err)
			}
			descend(tr.Params(), 0.1)
		}
	}
	whole := trainer(t, 5)
	train(whole, 0, 3)
	if err := rt.SaveState(path, map[string]rt.Stater{"net": whole}); err != nil {
		t.Fatal(err)
	}
	train(whole, 3, 6)
	resumed := trainer(t, 6)
	if err := rt.LoadState(path, map[string]rt.Stater{"net": resumed}); err != nil {
		t.Fatal(err)
	}
	train(resumed, 3, 6)
	for _, name := range []string{"fc1.weight", "norm.running_var"} {
		if !bytes.Equal(saved(t, whole.Model(), name), saved(t, resumed.Model(), name)) {
			t.Errorf("%s differs", name)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func TestStepsDoNotAllocate(t *testing.T) {
	tr := trainer(t, 1)
	x, y := data(1)
	if n := testing.AllocsPerRun(10, func() {
		if _, err := tr.Step(x, y); err != nil {
			t.Fatal(err)
		}
		tr.Params().UseUp()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
