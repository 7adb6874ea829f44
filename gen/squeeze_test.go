package gen_test

import (
	"strings"
	"testing"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/value"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx"
	"github.com/burngen/burngen/onnx/onnxtest"
)

// TestSqueezeOfASymbol squeezes all axes of extent 1 of a shape with a symbol. The compiled model
// takes the symbol for an extent other than 1. An extent of 1 is an error that names the flag which
// compiles the model for 1.
func TestSqueezeOfASymbol(t *testing.T) {
	const want = "without axes it drops an axis of extent N where that is 1; -dim N=1 compiles the model for 1"
	model := func(result ...any) *onnxtest.Model {
		return onnxtest.New(17).Input("x", ir.F32, "N", 1, 3).Output("y", ir.F32, result...).Node("squeeze", "Squeeze", list("x"), list("y"))
	}
	run := func(m *onnxtest.Model, n int, dims map[string]string) (shape []int, errs []error) {
		src, err := onnx.Read("model.onnx", m.Bytes(), nil, onnx.Options{Dims: dims})
		if err != nil {
			return nil, []error{err, err}
		}
		x := ir.NewTensor(ir.F32, n, 1, 3)
		_, err = (&ir.Evaluator{Module: src.Module}).Run(src.Module.Func("forward"), []*ir.Tensor{x})
		compiled, failed := gen.Compile(src, gen.Options{})
		if failed != nil {
			t.Fatal(failed)
		}
		_, shapes, ran := compiled.Run([]any{value.Slice(x)}, [][]int{x.Shape})
		if ran != nil {
			return nil, []error{err, ran}
		}
		return shapes[0], []error{err, ran}
	}
	for name, c := range map[string]struct {
		model *onnxtest.Model
		n     int
		dims  map[string]string
		rank  int // 0 for an error
	}{
		"two":              {model("N", 3), 2, nil, 2},
		"one":              {model("N", 3), 1, nil, 0},
		"one, compiled so": {model("N", 3), 1, map[string]string{"N": "1"}, 1},
		"declared for one": {model(3), 2, nil, 0},
		"declared, and so": {model(3), 1, map[string]string{"N": "1"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			shape, errs := run(c.model, c.n, c.dims)
			for _, err := range errs {
				if (err == nil) != (c.rank > 0) || err != nil && !strings.Contains(err.Error(), want) {
					t.Errorf("%v, want %s", err, want)
				}
			}
			if len(shape) != c.rank {
				t.Errorf("shape %v, want rank %d", shape, c.rank)
			}
		})
	}
}
