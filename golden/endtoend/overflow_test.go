package endtoend

import (
	"path/filepath"
	"testing"

	"github.com/burngen/burngen/golden/endtoend/module"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx/onnxtest"
)

// overflowing are models whose extents may exceed 64 bits: extents that are computed at run time,
// extents of arguments, and extents that a loop computes.
var overflowing = map[string]*onnxtest.Model{
	"tiled": onnxtest.New(21).Input("x", ir.F32, 4).Input("n", ir.I64, 1).Output("y", ir.F32, "A").
		Node("/tile", "Tile", []string{"x", "n"}, []string{"y"}),
	"joined": onnxtest.New(21).Input("x", ir.F32, "N", "C").Output("y", ir.F32, "N", "D").
		Node("/join", "Concat", []string{"x", "x", "x", "x"}, []string{"y"}, onnxtest.Attr{Name: "axis", Value: 1}),
	"looped": onnxtest.New(21).Input("x", ir.F32, 0, 1).Input("n", ir.I64).Output("y", ir.F32, 0, "D").
		Node("/loop", "Loop", []string{"n", "", "x"}, []string{"y"}, onnxtest.Attr{Name: "body", Value: onnxtest.New(0).
			Input("i", ir.I64).Input("going", ir.Bool).Input("v", ir.F32, 0, "V").Output("again", ir.Bool).Output("w", ir.F32, 0, "W").
			Node("/body/same", "Identity", []string{"going"}, []string{"again"}).
			Node("/body/join", "Concat", []string{"v", "v", "v", "v"}, []string{"w"}, onnxtest.Attr{Name: "axis", Value: 1})}),
}

// TestOverflow generates these models and runs the tests in testdata/overflow on them.
func TestOverflow(t *testing.T) {
	module.Long(t)
	t.Parallel()
	m := module.New(t)
	m.Copy(t, ".", "overflow/overflow_test.go")
	for name, model := range overflowing {
		path := filepath.Join(t.TempDir(), name+".onnx")
		module.WriteFile(t, path, string(model.Bytes()))
		m.Generate(t, name, path)
	}
	t.Log(m.Run(t, nil, "test", "."))
}
