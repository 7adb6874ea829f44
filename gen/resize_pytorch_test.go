package gen_test

import (
	"math"
	"testing"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/value"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx"
	"github.com/burngen/burngen/onnx/onnxtest"
)

// TestResizeOfPyTorch resizes 5 elements by 1.7, to 8, with aligned corners. In a file from PyTorch
// the last result is the last element, as in torch.nn.functional.interpolate of PyTorch 1.13. In
// other files it is sampled at 7.5, as ONNX says.
func TestResizeOfPyTorch(t *testing.T) {
	x := floats(1, 4, 9, 16, 25).Reshape(1, 1, 5)
	linear := []float64{1, 2.7142859, 4.7142859, 7.5714294, 11.000001, 15.000001, 19.857143, 25}
	for name, c := range map[string]struct {
		producer, mode string
		dims           []any
		scales         []float64 // nil for an operand
		want           []float64
	}{
		"linear":               {"pytorch", "linear", []any{1, 1, 5}, []float64{1, 1, 1.7}, linear},
		"linear, open extents": {"pytorch", "linear", []any{1, 1, "N"}, []float64{1, 1, 1.7}, linear},
		"linear, open scales":  {"pytorch", "linear", []any{1, 1, 5}, nil, linear},
		"smaller":              {"pytorch", "linear", []any{1, 1, 5}, []float64{1, 1, 0.7}, []float64{1, 9, 25}},
		"cubic":                {"pytorch", "cubic", []any{1, 1, 5}, []float64{1, 1, 1.7}, []float64{1, 2.215744, 4.7492728, 7.046648, 11.000004, 14.5102, 20.513126, 25.000006}},
		"of another program":   {"tf2onnx", "linear", []any{1, 1, 5}, []float64{1, 1, 1.7}, []float64{1, 2.6, 4.333333, 7, 9.933333, 13.666667, 17.8, 22.6}},
	} {
		t.Run(name, func(t *testing.T) {
			m := onnxtest.New(13).Doc("", c.producer).Input("x", ir.F32, c.dims...)
			args := []*ir.Tensor{x}
			if c.scales == nil {
				m = m.Input("s", ir.F32, 3)
				args = append(args, floats(1, 1, 1.7))
			} else {
				m = m.Initializer("s", floats(c.scales...))
			}
			m = m.Output("y", ir.F32, 1, 1, "M").Node("resize", "Resize", list("x", "", "s"), list("y"), attr("mode", c.mode), attr("coordinate_transformation_mode", "align_corners"))
			src, err := onnx.Read("model.onnx", m.Bytes(), nil, onnx.Options{})
			if err != nil {
				t.Fatal(err)
			}
			near := func(how string, got []float32, err error) {
				if err != nil || len(got) != len(c.want) {
					t.Fatalf("%s: %v, %v, want %v", how, got, err, c.want)
				}
				for i, v := range c.want {
					if math.Abs(float64(got[i])-v) > 2e-5 {
						t.Errorf("%s: element %d is %g, want %g", how, i, got[i], v)
					}
				}
			}
			out, err := (&ir.Evaluator{Module: src.Module}).Run(src.Module.Func("forward"), args)
			if err != nil {
				t.Fatal(err)
			}
			near("evaluated", value.Slice(out[0]).([]float32), nil)
			compiled, err := gen.Compile(src, gen.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var slices []any
			var shapes [][]int
			for _, a := range args {
				slices, shapes = append(slices, value.Slice(a)), append(shapes, a.Shape)
			}
			results, _, err := compiled.Run(slices, shapes)
			if err != nil {
				t.Fatal(err)
			}
			near("run", results[0].([]float32), nil)
		})
	}
}
