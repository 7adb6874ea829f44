package gen_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/gen/target/cpu"
)

// TestLosses compares losses with what functions of those names in
// torch.nn.functional (1.13) give for the same tensors.
func TestLosses(t *testing.T) {
	scores := []float32{0.2, 0.7, 0.4, 0.9, 0.1, 0.6}
	classes, values := []int64{2, 0}, []float32{0, 1, 0.5, 1, 0, 0}
	for _, c := range []struct {
		loss   string
		target any
		shape  []int
		want   float64
	}{
		{"cross_entropy", classes, []int{2}, 0.96862769},
		{"nll", classes, []int{2}, -0.64999998},
		{"mse", values, []int{2, 3}, 0.08666667},
		{"l1", values, []int{2, 3}, 0.23333335},
		{"bce", values, []int{2, 3}, 0.40339807},
		{"bce_with_logits", values, []int{2, 3}, 0.67289644},
	} {
		t.Run(c.loss, func(t *testing.T) {
			module := drawn(t, "weight w : f32[3]\n\nfunc @forward(%x: f32[N,3]) -> (y: f32[N,3]) {\n  %w = load {name=\"w\"} : f32[3]\n  %z = mul %w, %w : f32[3]\n  %u = sub %z, %z : f32[3]\n  %y = add %x, %u : f32[N,3]\n  return %y\n}\n")
			m, err := gen.FromModule("net", module, gen.Options{Train: true, Loss: c.loss, Params: []string{"w"}})
			if err != nil {
				t.Fatal(err)
			}
			f := m.Training.Steps[0]
			out, _, err := exec.New(f.Func, cpu.Target{}, exec.Weights(m.Raw)).Run(t.Context(), []any{scores, c.target}, [][]int{{2, 3}, c.shape})
			if err != nil {
				t.Fatal(err)
			}
			if got := float64(out[0].([]float32)[0]); diff(got, c.want) > 1e-6 {
				t.Errorf("got %.8f, torch has %.8f", got, c.want)
			}
		})
	}
}

// TestLossRefusesWhatIsNoClass gives losses a target that is none of three classes.
func TestLossRefusesWhatIsNoClass(t *testing.T) {
	for _, loss := range []string{"cross_entropy", "nll"} {
		m, err := gen.FromModule("net", drawn(t, perceptron), gen.Options{Train: true, Loss: loss})
		if err != nil {
			t.Fatal(err)
		}
		f := m.Training.Steps[0]
		for _, class := range []int64{-3, -1, 3} {
			t.Run(fmt.Sprint(loss, " ", class), func(t *testing.T) {
				args, shapes, err := gen.SampleInputs(f.IR)
				if err != nil {
					t.Fatal(err)
				}
				targets := args[len(args)-1].([]int64)
				clear(targets)
				if _, _, err := exec.New(f.Func, cpu.Target{}, exec.Weights(m.Raw)).Run(t.Context(), args, shapes); err != nil {
					t.Fatal(err)
				}
				targets[0] = class
				_, _, err = exec.New(f.Func, cpu.Target{}, exec.Weights(m.Raw)).Run(t.Context(), args, shapes)
				if want := `node "-loss ` + loss + `"`; err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("got %v, want an error of %s", err, want)
				}
			})
		}
	}
}

// TestCrossEntropyLooksBeforeASoftmax gives a model that ends with a softmax the loss
// of its operand.
func TestCrossEntropyLooksBeforeASoftmax(t *testing.T) {
	softmax := strings.Replace(strings.Replace(perceptron, "(logits: f32[N,3])", "(p: f32[N,3])", 1), "return %logits", "%p = softmax %logits {axis=1} : f32[N,3]\n  return %p", 1)
	var losses [2]float32
	for i, text := range []string{perceptron, softmax} {
		m, err := gen.FromModule("net", drawn(t, text), gen.Options{Train: true, Loss: "cross_entropy"})
		if err != nil {
			t.Fatal(err)
		}
		f := m.Training.Evals[1]
		args, shapes, err := gen.SampleInputs(f.IR)
		if err != nil {
			t.Fatal(err)
		}
		out, _, err := exec.New(f.Func, cpu.Target{}, exec.Weights(m.Raw)).Run(t.Context(), args, shapes)
		if err != nil {
			t.Fatal(err)
		}
		losses[i] = out[0].([]float32)[0]
	}
	if losses[0] != losses[1] {
		t.Errorf("the loss is %g of logits, %g of their softmax", losses[0], losses[1])
	}
}
