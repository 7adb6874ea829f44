package onnx

import (
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/onnx/onnxtest"
)

// TestCustomOperators checks the node of a custom operator against its declaration: its operands,
// its results and all its attributes.
func TestCustomOperators(t *testing.T) {
	custom, err := op.ParseCustom("Foo=example.com/ops.Foo: (f32[N,4]) -> (i64[K], f32[K,N])")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Custom: func(domain, name string) (CustomOp, bool) { return custom.Import, domain+name == "Foo" }}
	m := onnxtest.New(17).Input("x", ir.F32, "S", "C").Output("at", ir.I64, "K").Output("y", ir.F32, "K", "S").
		Node("/node", "Foo", []string{"x"}, []string{"at", "y"},
			onnxtest.Attr{Name: "i", Value: -1}, onnxtest.Attr{Name: "f", Value: 0.5}, onnxtest.Attr{Name: "s", Value: "a\nb"},
			onnxtest.Attr{Name: "is", Value: []int{1, 2}}, onnxtest.Attr{Name: "fs", Value: []float64{3}}, onnxtest.Attr{Name: "ss", Value: []string{"c", ""}})
	read, err := Read("model.onnx", m.Bytes(), nil, o)
	if err != nil {
		t.Fatal(err)
	}
	const want = `%at, %y = custom %x {name="Foo" func="example.com/ops.Foo" type="(f32[N,4]) -> (i64[K], f32[K,N])" ` +
		`attrs=[{name="i" value=i64[](-1)},{name="f" value=f32[](0.5)},{name="s" value=string[]("a\nb")},` +
		`{name="is" value=i64[2](1,2)},{name="fs" value=f32[1](3)},{name="ss" value=string[2]("c","")}] ` +
		`extents=[{symbol="K"}]} : i64[K], f32[K,S]`
	if text := read.Module.String(); !strings.Contains(text, want) || !strings.Contains(text, "(%x: f32[S,4])") {
		t.Errorf("the module is\n%s\nwant\n%s", text, want)
	}
	roundTrip(t, read.Module)
}
