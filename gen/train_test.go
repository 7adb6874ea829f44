package gen_test

import (
	"strings"
	"testing"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/gen/target/cpu"
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

// TestStepsComputeGradients compares the results of lowered steps with the evaluator's results, and
// the gradients with finite differences of the loss.
func TestStepsComputeGradients(t *testing.T) {
	for _, loss := range gen.LossNames() {
		if loss == gen.NoLoss || loss == "bce" { // bce is of probabilities
			continue
		}
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
			got, gotShapes, err := exec.New(step.Func, cpu.Target{}, exec.Weights(m.Raw)).Run(t.Context(), args, shapes)
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

// TestTargetOfRuntimeExtents trains a model whose operands determine the extents of its result at
// run time. The target has extents of its own, which are compared with the extents of the result.
func TestTargetOfRuntimeExtents(t *testing.T) {
	module := drawn(t, `
weight w : f32[1,1,1,1]

func @forward(%x: f32[N,1,2,2], %scales: f64[4]) -> (y: f32[a,b,c,d]) {
  %w = load {name="w"} : f32[1,1,1,1]
  %h = mul %x, %w : f32[N,1,2,2]
  bind_scaled %scales {bound={symbols=["a","b","c","d"]} from=[N,1,2,2]}
  %s = cast %scales {to=f32} : f32[4]
  %y = expand %h {shape=[a,b,c,d]} : f32[a,b,c,d]
  return %y
}
`)
	m, err := gen.FromModule("net", module, gen.Options{Train: true, Loss: "mse", Params: []string{"w"}})
	if err != nil {
		t.Fatal(err)
	}
	step := m.Training.Steps[0]
	run := func(rows int) ([]any, error) {
		x, target := []float32{1, 2, 3, 4}, make([]float32, 3*rows*4)
		out, _, err := exec.New(step.Func, cpu.Target{}, exec.Weights(m.Raw)).Run(t.Context(),
			[]any{x, []float64{3, 2, 1, 1}, target}, [][]int{{1, 1, 2, 2}, {4}, {3, rows, 2, 2}})
		return out, err
	}
	got, err := run(2)
	if err != nil {
		t.Fatal(err)
	}
	w, _ := module.Weight("w").Tensor()
	if want := 7.5 * w.Float(0) * w.Float(0); diff(float64(got[0].([]float32)[0]), want) > 1e-4 {
		t.Errorf("the loss is %g, want %g", got[0], want)
	}
	if _, err := run(3); err == nil || !strings.Contains(err.Error(), "axis 1 of target") {
		t.Errorf("a target of other extents: %v", err)
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
	out, _, err := exec.New(m.Training.Evals[1].Func, cpu.Target{}, weights).Run(t.Context(), args, shapes)
	if err != nil {
		t.Fatal(err)
	}
	return float64(out[0].([]float32)[0])
}

func TestTrainingMistakes(t *testing.T) {
	for _, c := range []struct {
		name string
		o    gen.Options
		want string
	}{
		{"an unknown loss", gen.Options{Train: true, Loss: "huge"}, "net.ir: -loss huge: one of bce, "},
		{"a pattern that matches nothing", gen.Options{Train: true, Params: []string{"fc3"}}, `net.ir: -params: pattern "fc3" matches no parameter`},
		{"a malformed pattern", gen.Options{Train: true, Freeze: []string{"["}}, "net.ir: -freeze: pattern"},
		{"nothing to train", gen.Options{Train: true, Freeze: []string{"**"}}, "net.ir: -train: the model has no parameters to train"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := gen.FromModule("net", drawn(t, perceptron), c.o)
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestReservedMethods(t *testing.T) {
	for method, want := range map[string]string{
		"Step": "generated packages have", "StepDisc": "generated packages have", "TrainForward": "generated packages have", "Save": "generated packages have",
		"Backward": "generated packages have", "lower": "not an exported name", "ForwardContext": "Forward with a context",
	} {
		t.Run(method, func(t *testing.T) {
			src := gen.SourceOf("net", drawn(t, perceptron))
			other := src.Functions[0]
			other.Method = method
			src.Functions = append(src.Functions, other)
			if _, err := gen.CompileSource(src, gen.Options{}); err == nil || !strings.Contains(err.Error(), "net.ir: method "+method+": ") || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v", err)
			}
		})
	}
}
