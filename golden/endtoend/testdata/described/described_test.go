// Package described tests the trainer of a described model: a convolution, a batch normalisation,
// dropout and two linear layers, with two losses.
package described

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/runtime/rt"
	"github.com/burngen/burngen/runtime/rt/keys"

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

// data draws images. The class of an image is the part of it that is bright.
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

// output computes a model.
func output(t *testing.T, m *model.Model) []model.Logits {
	t.Helper()
	x, _ := data(3)
	y, err := m.Forward(x)
	if err != nil {
		t.Fatal(err)
	}
	return y
}

func TestSavedWeightsAreLoaded(t *testing.T) {
	m, path := model.New(7), filepath.Join(t.TempDir(), "w.safetensors")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	want := output(t, m)
	file := func() *rt.Weights {
		w := rt.OpenWeightsFile(path)
		t.Cleanup(func() { w.Close() })
		return w
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	prefixed := func() *rt.Weights {
		w := file()
		names := map[string]string{}
		for _, name := range w.Names() {
			names[name] = "state.module." + name
		}
		w, err := w.Renamed(names)
		if err != nil {
			t.Fatal(err)
		}
		rt.Add(w, "state.module.norm.num_batches_tracked", []int64{3})
		rt.Add(w, "epoch", []int64{3})
		return w
	}
	for _, c := range []struct {
		name    string
		weights *rt.Weights
		options []keys.Option
	}{
		{"a file", file(), nil},
		{"bytes", rt.ParseWeights(text), nil},
		{"a file system", rt.OpenWeightsFS(os.DirFS(filepath.Dir(path)), filepath.Base(path)), nil},
		{"other names", prefixed(), []keys.Option{keys.TopKey("state"), keys.Remap(`^module\.=>`)}},
		{"unused tensors", prefixed(), []keys.Option{keys.Remap(`^state\.module\.=>`), keys.AllowUnused()}},
	} {
		loaded, err := model.LoadFrom(c.weights, c.options...)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		c.weights.Close()
		if got := output(t, loaded); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", c.name, got, want)
		}
		again := filepath.Join(t.TempDir(), "again")
		if err := loaded.Save(again); err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if bytesOf(t, again) != string(text) {
			t.Errorf("%s: another file is saved", c.name)
		}
	}
	_, err = model.LoadFrom(prefixed(), keys.Remap(`^state\.module\.=>`))
	if err == nil || !strings.Contains(err.Error(), `1 not used: "epoch"`) {
		t.Error(err)
	}
}

func bytesOf(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestPartsOfAModel loads some weights and keeps the model's own for the others.
func TestPartsOfAModel(t *testing.T) {
	tr := trainer(t, 1)
	x, y := data(1)
	if _, err := tr.Step(x, y); err != nil {
		t.Fatal(err)
	}
	descend(tr.Params(), 0.1)
	all := tr.Weights()
	names := map[string]string{}
	for _, name := range all.Names() {
		if strings.HasPrefix(name, "fc") {
			names[name] = name
		}
	}
	head, err := all.Renamed(names)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := model.LoadFrom(head); err == nil || !strings.Contains(err.Error(), `"conv.weight"`) {
		t.Error(err)
	}
	same := func(what string, m *model.Model, name string, want []byte) {
		t.Helper()
		if !bytes.Equal(saved(t, m, name), want) {
			t.Errorf("%s: %s is another", what, name)
		}
	}
	m, err := model.LoadFrom(head, keys.AllowMissing())
	if err != nil {
		t.Fatal(err)
	}
	same("loaded", m, "fc1.weight", all.Raw("fc1.weight"))
	same("loaded", m, "conv.weight", saved(t, model.New(0), "conv.weight"))
	m = model.New(5)
	for range 3 {
		if err := m.Swap(head, keys.AllowMissing()); err != nil {
			t.Fatal(err)
		}
	}
	same("swapped", m, "fc1.weight", all.Raw("fc1.weight"))
	same("swapped", m, "conv.weight", saved(t, model.New(5), "conv.weight"))
	if err := m.Swap(tr.Weights()); err != nil {
		t.Fatal(err)
	}
	if got, want := output(t, m), output(t, tr.Model()); !slices.Equal(got, want) {
		t.Errorf("after Swap of the trainer's weights: %v, want %v", got, want)
	}
	if len(model.Wanted()) != len(all.Names()) {
		t.Errorf("%d weights are wanted, there are %d", len(model.Wanted()), len(all.Names()))
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
