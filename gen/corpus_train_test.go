package gen_test

import (
	"math"
	"strings"
	"testing"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/gen/target/cpu"
	"github.com/burngen/burngen/golden/corpus"
	"github.com/burngen/burngen/runtime/rt"
)

// trainedModels are models of the corpus with many kinds of operators. They are small enough to be
// differentiated in a test.
var trainedModels = strings.Fields(`cifar10-pytorch-tutorial mnist-mlp-training sine-mlp mnist-self-attention-small
	mnist-cntk-12 lstm-loop-tiny espcn-bsd300 dtln-1 gpt2-tiny-past bert-toy`)

// TestCorpusGradients compares the gradients that lowered steps compute for models of the corpus
// with finite differences of the loss along a random direction.
func TestCorpusGradients(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: takes a while")
	}
	for _, name := range trainedModels {
		t.Run(name, func(t *testing.T) {
			m, err := gen.Load(corpus.Path(t, "models/"+name+"/model.onnx"), gen.Options{Train: true, Loss: "mse"})
			if err != nil {
				t.Fatal(err)
			}
			compareDirection(t, m)
		})
	}
}

// compareDirection compares ⟨gradient, d⟩ with the loss's derivative along d.
func compareDirection(t *testing.T, m *gen.Model) {
	t.Helper()
	step := m.Training.Steps[0]
	args, shapes, err := gen.SampleInputs(step.IR)
	if err != nil {
		t.Fatal(err)
	}
	raw := exec.Weights(m.Raw)
	got, _, err := exec.New(step.Func, cpu.Target{}, raw).Run(t.Context(), args, shapes)
	if err != nil {
		t.Fatal(err)
	}
	direction, slope, norm, size := map[string][]float32{}, 0.0, 0.0, 0.0
	for i, r := range step.IR.ResultNames {
		name, ok := strings.CutPrefix(r, "grad/")
		if !ok {
			continue
		}
		g := got[i].([]float32)
		d := make([]float32, len(g))
		rt.Uniform(d, -1, 1, uint32(i))
		w, err := raw(name)
		if err != nil {
			t.Fatal(err)
		}
		for k := range g {
			// Along the gradient in part, so that the slope is not a sum of cancelling parts.
			d[k] = float32(d[k]*0.1) + g[k]
			norm += float64(d[k]) * float64(d[k])
			slope += float64(g[k]) * float64(d[k])
			x := float64(w.([]float32)[k])
			size += x * x
		}
		direction[name] = d
	}
	if norm == 0 || slope == 0 {
		t.Fatal("no gradient")
	}
	lossAt := func(h float64) float64 {
		weights := func(name string) (any, error) {
			x, err := raw(name)
			d := direction[name]
			if err != nil || d == nil {
				return x, err
			}
			moved := make([]float32, len(d))
			for k, v := range x.([]float32) {
				moved[k] = float32(float64(v) + float64(h*float64(d[k])))
			}
			return moved, nil
		}
		out, _, err := exec.New(step.Func, cpu.Target{}, weights).Run(t.Context(), args, shapes)
		if err != nil {
			t.Fatal(err)
		}
		return float64(out[0].([]float32)[0])
	}
	// The best of several steps: a large one bends, a small one is lost to rounding.
	best := math.Inf(1)
	for _, h := range []float64{1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4} {
		h *= math.Sqrt(size/norm) * 0.1
		want := (lossAt(h) - lossAt(-h)) / (2 * h)
		best = min(best, math.Abs(want-slope)/math.Abs(slope))
	}
	if best > 1e-2 {
		t.Errorf("the gradient says %g along a direction, differences of the loss are off by a factor of %g at best", slope, best)
	} else {
		t.Logf("off by %.1e", best)
	}
}
