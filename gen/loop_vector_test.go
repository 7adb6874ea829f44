package gen_test

import (
	"fmt"
	"testing"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/value"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx"
	"github.com/burngen/burngen/onnx/onnxtest"
)

// TestLoopOfVectors runs loop bodies that declare the iteration number and the condition as vectors
// of one element. Old exporters write such bodies and squeeze the vectors.
func TestLoopOfVectors(t *testing.T) {
	for _, opset := range []int64{8, 11} {
		for name, c := range map[string]struct {
			x    *ir.Tensor
			node func(body *onnxtest.Model) *onnxtest.Model
			want string
		}{
			"squeezed": {floats(1).Reshape(), func(b *onnxtest.Model) *onnxtest.Model {
				return b.Node("squeeze", "Squeeze", list("i"), list("j"), attr("axes", []int{0}))
			}, "f32[](7) f32[4,1](0,1,2,3)"},
			"added to a vector": {floats(1), func(b *onnxtest.Model) *onnxtest.Model {
				return b.Node("same", "Identity", list("i"), list("j"))
			}, "f32[1](7) f32[4,1](0,1,2,3)"},
		} {
			t.Run(fmt.Sprint(name, opset), func(t *testing.T) {
				dims := make([]any, c.x.Rank())
				for i := range dims {
					dims[i] = c.x.Shape[i]
				}
				body := onnxtest.New(0).Input("i", ir.I64, 1).Input("going", ir.Bool, 1).Input("v", ir.F32, dims...).
					Output("again", ir.Bool, 1).Output("w", ir.F32, dims...).Output("row", ir.F32, 1).
					Node("go", "Identity", list("going"), list("again"))
				body = c.node(body).Node("float", "Cast", list("j"), list("f"), attr("to", 1)).Node("add", "Add", list("v", "f"), list("w")).
					Node("row", "Cast", list("i"), list("row"), attr("to", 1))
				m := onnxtest.New(opset).Input("n", ir.I64).Input("x", ir.F32, dims...).Output("y", ir.F32, dims...).Output("rows", ir.F32, "T", 1).
					Node("loop", "Loop", list("n", "", "x"), list("y", "rows"), attr("body", body))
				src, err := onnx.Read("model.onnx", m.Bytes(), nil, onnx.Options{})
				if err != nil {
					t.Fatal(err)
				}
				out, err := (&ir.Evaluator{Module: src.Module}).Run(src.Module.Func("forward"), []*ir.Tensor{number(4), c.x})
				if err != nil {
					t.Fatal(err)
				}
				if got := fmt.Sprint(out[0], " ", out[1]); got != c.want {
					t.Errorf("%s, want %s", got, c.want)
				}
				compiled, err := gen.Compile(src, gen.Options{})
				if err != nil {
					t.Fatal(err)
				}
				results, shapes, err := compiled.Run([]any{value.Slice(number(4)), value.Slice(c.x)}, [][]int{{}, c.x.Shape})
				if err != nil || fmt.Sprint(results, shapes) != fmt.Sprintf("[[7] [0 1 2 3]] [%v [4 1]]", c.x.Shape) {
					t.Errorf("%v %v, %v", results, shapes, err)
				}
			})
		}
	}
}
