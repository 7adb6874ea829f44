package gen_test

import (
	"strings"
	"testing"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/gen/value"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// perceptron is a model of two layers whose module has no loss.
const perceptron = `
weight fc1.weight : f32[6,8]
weight fc1.bias : f32[8]
weight fc2.weight : f32[8,3]
weight fc2.bias : f32[3]

func @forward(%x: f32[N,6]) -> (logits: f32[N,3]) {
  %w1 = load {name="fc1.weight"} : f32[6,8]
  %b1 = load {name="fc1.bias"} : f32[8]
  %0 = mat_mul %x, %w1 : f32[N,8]
  %1 = add %0, %b1 : f32[N,8]
  %hidden = tanh %1 : f32[N,8]
  %w2 = load {name="fc2.weight"} : f32[8,3]
  %b2 = load {name="fc2.bias"} : f32[3]
  %2 = mat_mul %hidden, %w2 : f32[N,3]
  %logits = add %2, %b2 : f32[N,3]
  return %logits
}
`

// drawn parses a module and draws its weights.
func drawn(t *testing.T, text string) *ir.Module {
	t.Helper()
	m, err := ir.Parse(text, op.Set)
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range m.Weights {
		shape, _ := w.Type.Static()
		n := 1
		for _, d := range shape {
			n *= d
		}
		data := exec.MakeSlice(w.Type.DType, n)
		exec.Draw(w.Type.DType, data, -1, 1, uint32(i+1))
		x, err := value.FromSlice(w.Type.DType, shape, data)
		if err != nil {
			t.Fatal(err)
		}
		w.Data = x.Bytes()
	}
	return m
}

// TestStepsComputeGradients compares what lowered steps compute with what the
// evaluator makes of them, and the gradients with differences of the loss.
func TestStepsComputeGradients(t *testing.T) {
	for _, loss := range []string{"mse", "l1", "bce_with_logits"} {
		t.Run(loss, func(t *testing.T) {
			module := drawn(t, perceptron)
			m, err := gen.FromModule("net", module, gen.Options{Train: true, Loss: loss})
			if err != nil {
				t.Fatal(err)
			}
			step := m.Training.Steps[0]
			args, shapes, err := gen.SampleInputs(step.IR)
			if err != nil {
				t.Fatal(err)
			}
			got, gotShapes, err := exec.New(step.Func, exec.Weights(m.Raw)).Run(t.Context(), args, shapes)
			if err != nil {
				t.Fatal(err)
			}
			for i, name := range step.IR.ResultNames {
				x, err := value.FromSlice(step.IR.Results[i].Type.DType, gotShapes[i], got[i])
				if err != nil {
					t.Fatal(err)
				}
				weight, ok := strings.CutPrefix(name, "grad/")
				if !ok {
					continue
				}
				w := module.Weight(weight)
				const h = 1.0 / 128
				for _, k := range []int{0, x.Len() - 1} {
					up, down := lossAt(t, m, w, k, h, args, shapes), lossAt(t, m, w, k, -h, args, shapes)
					if want := (up - down) / (2 * h); diff(x.Float(k), want) > 2e-3 {
						t.Errorf("%s: element %d is %g, differences of the loss say %g", name, k, x.Float(k), want)
					}
				}
			}
		})
	}
}

func diff(a, b float64) float64 { return max(a-b, b-a) }

// lossAt returns the loss with element k of a weight moved by h.
func lossAt(t *testing.T, m *gen.Model, w *ir.Weight, k int, h float64, args []any, shapes [][]int) float64 {
	t.Helper()
	x, err := w.Tensor()
	if err != nil {
		t.Fatal(err)
	}
	moved := value.Slice(x).([]float32)
	moved[k] += float32(h)
	raw := exec.Weights(m.Raw)
	weights := func(name string) (any, error) {
		if name != w.Name {
			return raw(name)
		}
		return moved, nil
	}
	out, _, err := exec.New(m.Training.Evals[1].Func, weights).Run(t.Context(), args, shapes)
	if err != nil {
		t.Fatal(err)
	}
	return float64(out[0].([]float32)[0])
}
