package op

import (
	"math"
	"testing"

	"github.com/burngen/burngen/ir"
)

// svmAttrs are the attributes of a machine of classes a, b and c with one support vector each: the
// unit vectors of three features. Each vector has two coefficients, one against each of the other
// classes.
func svmAttrs() attrs {
	return attrs{
		"classlabels_strings": []string{"a", "b", "c"}, "vectors_per_class": []int{1, 1, 1},
		"support_vectors": []float64{1, 0, 0, 0, 1, 0, 0, 0, 1},
		"coefficients":    []float64{1, -1, -2, 2, 3, -3}, "rho": []float64{0, 0, 0.5},
		"kernel_params": []float64{0.5, 1, 2},
	}
}

func TestSVMClassifierVotes(t *testing.T) {
	x := ir.FloatTensor(ir.F32, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0).Reshape(4, 3)
	f, err := importFunc("ai.onnx.ml:SVMClassifier", 1, 2, svmAttrs(), types(t, "f32[N,3]"))
	if err != nil {
		t.Fatal(err)
	}
	lowered(t, f)
	y := run(t, f, x)
	// Pairs are a against b, a against c, b against c.
	want := ir.FloatTensor(ir.F32, 1, 2, 0.5, -1, 0, 3.5, 0, -2, -2.5, 0, 0, 0.5).Reshape(4, 3)
	if !y[1].Equal(want) {
		t.Errorf("scores %s, want %s", y[1], want)
	}
	if want := textTensor([]string{"a", "b", "c", "b"}); !y[0].Equal(want) {
		t.Errorf("labels %s, want %s", y[0], want)
	}
}

func TestSVMClassifierProbabilities(t *testing.T) {
	a := svmAttrs().with(attrs{"prob_a": []float64{-1, -1, -1}, "prob_b": []float64{0, 0, 0}})
	f, err := importFunc("ai.onnx.ml:SVMClassifier", 1, 2, a, types(t, "f32[N,3]"))
	if err != nil {
		t.Fatal(err)
	}
	lowered(t, f)
	p := run(t, f, ir.FloatTensor(ir.F32, 1, 0, 0, 0, 0, 9).Reshape(2, 3))[1]
	for r := range 2 {
		sum, best := 0.0, 0
		for c := range 3 {
			sum += p.Float(3*r + c)
			if p.Float(3*r+c) > p.Float(3*r+best) {
				best = c
			}
		}
		if math.Abs(sum-1) > 1e-6 || best != 2*r {
			t.Errorf("row %d: %s", r, p)
		}
	}
}

func TestSVMKernels(t *testing.T) {
	x := ir.FloatTensor(ir.F32, 1, 2).Reshape(1, 2)
	for kernel, want := range map[string]float64{
		"LINEAR":  2*(1*3+2*-1) + 0.25,
		"POLY":    2*math.Pow(0.5*(3-2)+1, 2) + 0.25,
		"RBF":     2*math.Exp(-0.5*(4+9)) + 0.25,
		"SIGMOID": 2*math.Tanh(0.5*(3-2)+1) + 0.25,
	} {
		t.Run(kernel, func(t *testing.T) {
			a := attrs{
				"kernel_type": kernel, "kernel_params": []float64{0.5, 1, 2}, "n_supports": 1,
				"support_vectors": []float64{3, -1}, "coefficients": []float64{2}, "rho": []float64{0.25},
			}
			f, err := importFunc("ai.onnx.ml:SVMRegressor", 1, 1, a, types(t, "f32[N,2]"))
			if err != nil {
				t.Fatal(err)
			}
			lowered(t, f)
			if y := run(t, f, x)[0]; !closeTo(y, ir.FloatTensor(ir.F32, want).Reshape(1, 1), 1e-6) {
				t.Errorf("%s, want %v", y, want)
			}
		})
	}
}

func TestMalformedMachinesAreRefused(t *testing.T) {
	for name, change := range map[string]attrs{
		"a rho too few":            {"rho": []float64{0, 0}},
		"a coefficient too few":    {"coefficients": []float64{1, 2, 3, 4, 5}},
		"classes without vectors":  {"vectors_per_class": []int{3}},
		"a negative number":        {"vectors_per_class": []int{-1, 2, 2}},
		"too many vectors":         {"vectors_per_class": []int{1 << 30, 1 << 30, 1}},
		"vectors of unequal size":  {"support_vectors": []float64{1, 2, 3, 4}},
		"vectors of another size":  {"support_vectors": []float64{1, 2, 3}},
		"one probability":          {"prob_a": []float64{1}, "prob_b": []float64{1}},
		"half the probabilities":   {"prob_a": []float64{1, 1, 1}},
		"no labels":                {"classlabels_strings": []string(nil)},
		"two kinds of labels":      {"classlabels_ints": []int{1, 2, 3}},
		"an unknown kernel":        {"kernel_type": "TRIANGLE"},
		"kernel parameters of two": {"kernel_params": []float64{1, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := importFunc("ai.onnx.ml:SVMClassifier", 1, 2, svmAttrs().with(change), types(t, "f32[N,3]")); err == nil {
				t.Error("imported")
			}
		})
	}
}
