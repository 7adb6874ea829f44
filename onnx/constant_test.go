package onnx

import (
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx/onnxtest"
)

// TestConstantsAreComputed imports a Resize whose scales are a concatenation, either of constants
// or of values that are known only at run time.
func TestConstantsAreComputed(t *testing.T) {
	for name, test := range map[string]struct {
		left, want string
	}{
		"constants":  {"one", "f32[1,1,6,8]"},
		"an operand": {"given", "f32[resized_0,resized_1,resized_2,resized_3]"},
	} {
		t.Run(name, func(t *testing.T) {
			model := onnxtest.New(13).
				Input("x", ir.F32, 1, 1, 3, 2).Input("given", ir.F32, 2).Output("y", ir.F32).
				Initializer("one", ir.FloatTensor(ir.F32, 1, 1)).Initializer("two", ir.FloatTensor(ir.F32, 1, 2)).
				Node("double", "Mul", []string{"two", "two"}, []string{"four"}).
				Node("begin", "Slice", []string{"four", "from", "to"}, []string{"last"}).
				Initializer("from", ir.IntTensor(ir.I64, 1)).Initializer("to", ir.IntTensor(ir.I64, 2)).
				Initializer("half", ir.FloatTensor(ir.F32, 2)).
				Node("join", "Concat", []string{test.left, "half", "last"}, []string{"scales"}, onnxtest.Attr{Name: "axis", Value: 0}).
				Node("resize", "Resize", []string{"x", "", "scales"}, []string{"y"})
			src, err := Read("model.onnx", model.Bytes(), nil, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if got := src.Module.Func("forward").Results[0].Type.String(); got != test.want {
				t.Errorf("%s, want %s", got, test.want)
			}
		})
	}
}

// TestSingleElements imports initializers of one element. They are weights if they are parameters,
// and constants otherwise.
func TestSingleElements(t *testing.T) {
	one := func(dims ...int) *ir.Tensor { return ir.NewTensor(ir.F32, dims...) }
	model := onnxtest.New(17).
		Input("x", ir.F32, 2, 1, 3, 3).Output("y", ir.F32, 2, 1).
		Initializer("kernel", one(1, 1, 3, 3)).Initializer("bias", one(1)).Initializer("slope", one(1)).Initializer("axes", ir.IntTensor(ir.I64, 1, 2)).
		Initializer("scale", one(1)).Initializer("matrix", one(1, 1)).Initializer("shift", one(1)).Initializer("scalar", one()).
		Node("conv", "Conv", []string{"x", "kernel", "bias"}, []string{"a"}).
		Node("long", "Unsqueeze", []string{"slope", "axes"}, []string{"slopes"}).
		Node("prelu", "PRelu", []string{"a", "slopes"}, []string{"b"}).
		Node("mul", "Mul", []string{"b", "scale"}, []string{"c"}).
		Node("flat", "Flatten", []string{"c"}, []string{"d"}).
		Node("product", "MatMul", []string{"d", "matrix"}, []string{"e"}).
		Node("add", "Add", []string{"shift", "e"}, []string{"f"}).
		Node("more", "Add", []string{"f", "scalar"}, []string{"y"})
	src, err := Read("model.onnx", model.Bytes(), nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, w := range src.Module.Weights {
		names = append(names, w.Name)
		if w.Data == nil {
			t.Errorf("%s has no elements", w.Name)
		}
	}
	if got, want := strings.Join(names, " "), "kernel bias slope matrix shift"; got != want {
		t.Errorf("weights %s, want %s", got, want)
	}
}
