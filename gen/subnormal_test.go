package gen_test

import (
	"testing"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/value"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx"
	"github.com/burngen/burngen/onnx/onnxtest"
)

// TestStrictKeepsSubnormals computes exponentials below 1e-38 in strict mode, along the last axis
// and along another. They must not become 0.
func TestStrictKeepsSubnormals(t *testing.T) {
	x := floats(0, -87, -88, -90, -95, -100, -102)
	for _, c := range []struct {
		op    string
		shape []int
		axis  int
	}{{"Softmax", []int{1, 7}, 1}, {"Softmax", []int{7, 1}, 0}, {"Softmax", []int{1, 7, 2}, 1}, {"Exp", []int{7}, -1}, {"Sigmoid", []int{7}, -1}} {
		shape, dims := c.shape, []any{}
		for _, d := range shape {
			dims = append(dims, d)
		}
		in := ir.NewTensor(ir.F32, shape...)
		for i := range in.Len() {
			in.SetFloat(i, x.Float(i*7/in.Len()))
		}
		m := onnxtest.New(17).Input("x", ir.F32, dims...).Output("y", ir.F32, dims...)
		if c.axis < 0 {
			m = m.Node("node", c.op, list("x"), list("y"))
		} else {
			m = m.Node("node", c.op, list("x"), list("y"), attr("axis", c.axis))
		}
		src, err := onnx.Read("model.onnx", m.Bytes(), nil, onnx.Options{})
		if err != nil {
			t.Fatal(err)
		}
		compiled, err := gen.Compile(src, gen.Options{Strict: true})
		if err != nil {
			t.Fatal(err)
		}
		results, _, err := compiled.Run([]any{value.Slice(in)}, [][]int{shape})
		if err != nil {
			t.Fatal(err)
		}
		want, err := (&ir.Evaluator{Module: src.Module}).Run(src.Module.Func("forward"), []*ir.Tensor{in})
		if err != nil {
			t.Fatal(err)
		}
		for i, y := range results[0].([]float32) {
			if w := want[0].Float(i); !(y > 0) || float64(y)-w > 1e-44+1e-5*w || w-float64(y) > 1e-44+1e-5*w {
				t.Errorf("%s %v: element %d is %g, want %g", c.op, shape, i, y, w)
			}
		}
	}
}
