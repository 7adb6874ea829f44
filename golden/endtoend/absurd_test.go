package endtoend

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/golden/endtoend/module"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx/onnxtest"
)

// absurdModels returns models whose results have extents that are arguments.
func absurdModels() map[string]*onnxtest.Model {
	attr := func(name string, value any) onnxtest.Attr { return onnxtest.Attr{Name: name, Value: value} }
	list := func(names ...string) []string { return names }
	of := func(op string, n int, attrs ...onnxtest.Attr) *onnxtest.Model {
		return onnxtest.New(21).Input("x", ir.F32, 4).Input("n", ir.I64, n).Output("y", ir.F32, "A").Node("/node", op, list("x", "n"), list("y"), attrs...)
	}
	image := func() *onnxtest.Model {
		return onnxtest.New(21).Input("x", ir.F32, 1, 1, 2, 2).Output("y", ir.F32, "A", "B", "C", "D")
	}
	body := func() *onnxtest.Model {
		return onnxtest.New(0).Input("i", ir.I64).Input("going", ir.Bool).Node("/go", "Identity", list("going"), list("on")).Output("on", ir.Bool)
	}
	loop := func(inside *onnxtest.Model, inputs ...string) *onnxtest.Model {
		return onnxtest.New(21).Input("x", ir.F32, 4).Input("n", ir.I64).Node("/node", "Loop", inputs, list("y"), attr("body", inside))
	}
	return map[string]*onnxtest.Model{
		"tile":   of("Tile", 1),
		"pad":    of("Pad", 2),
		"edge":   of("Pad", 2, attr("mode", "edge")),
		"center": of("CenterCropPad", 1),
		"expand": onnxtest.New(21).Input("x", ir.F32, 1).Input("n", ir.I64, 1).Output("y", ir.F32, "A").Node("/node", "Expand", list("x", "n"), list("y")),
		"constant": onnxtest.New(21).Input("n", ir.I64, 1).Output("y", ir.F32, "A").
			Node("/node", "ConstantOfShape", list("n"), list("y")),
		"square": onnxtest.New(21).Input("n", ir.I64, 2).Output("y", ir.F32, "A", "B").
			Node("/shape", "ConstantOfShape", list("n"), list("s")).Node("/node", "EyeLike", list("s"), list("y")),
		"steps": onnxtest.New(21).Input("n", ir.I64).Initializer("zero", ir.IntTensor(ir.I64, 0).Reshape()).Initializer("one", ir.IntTensor(ir.I64, 1).Reshape()).
			Output("y", ir.I64, "A").Node("/node", "Range", list("zero", "n", "one"), list("y")),
		"hot": onnxtest.New(21).Input("n", ir.I64).Initializer("x", ir.IntTensor(ir.I64, 1, 2)).Initializer("v", ir.FloatTensor(ir.F32, 0, 1)).
			Output("y", ir.F32, 2, "A").Node("/node", "OneHot", list("x", "n", "v"), list("y")),
		"sizes":  image().Input("n", ir.I64, 4).Node("/node", "Resize", list("x", "", "", "n"), list("y")),
		"scales": image().Input("n", ir.F32, 4).Node("/node", "Resize", list("x", "", "n"), list("y"), attr("mode", "linear")),
		"rows":   loop(body().Node("/row", "Identity", list("x"), list("r")).Output("r", ir.F32, 4), "n", "").Output("y", ir.F32, "T", 4),
		"double": loop(body().Input("v", ir.F32, "A").Node("/twice", "Concat", list("v", "v"), list("w"), attr("axis", 0)).Output("w", ir.F32, "B"), "n", "", "x").Output("y", ir.F32, "Z"),
		"endless": loop(body().Input("v", ir.F32, 4).Node("/more", "Add", list("v", "x"), list("w")).Output("w", ir.F32, 4), "n", "", "x").
			Output("y", ir.F32, 4),
		"batch": onnxtest.New(21).Input("x", ir.F32, "N").Initializer("shape", ir.IntTensor(ir.I64, -1, 1)).Initializer("wide", ir.IntTensor(ir.I64, 1, 1<<20)).
			Output("y", ir.F32, "N", 1<<20).Node("/column", "Reshape", list("x", "shape"), list("c")).Node("/node", "Expand", list("c", "wide"), list("y")),
	}
}

// TestAbsurdArguments calls models with extents that exceed the memory of any machine, and with
// extents for which one buffer fits but two do not. The calls return errors, and later calls work.
// GOMEMLIMIT limits the memory.
func TestAbsurdArguments(t *testing.T) {
	module.Long(t)
	t.Parallel()
	m := module.New(t)
	var imports, models strings.Builder
	all := absurdModels()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		path := filepath.Join(t.TempDir(), name+".onnx")
		module.WriteFile(t, path, string(all[name].Bytes()))
		m.Generate(t, name, path)
		fmt.Fprintf(&imports, "\t%q\n", "program/"+name)
		fmt.Fprintf(&models, "\t%q: must(%s.Load()),\n", name, name)
	}
	m.Copy(t, "test", "absurd/absurd_test.go")
	m.Write(t, "test/models_test.go", fmt.Sprintf("package absurd\n\nimport (\n%s)\n\nvar models = map[string]any{\n%s}\n", &imports, &models))
	t.Log(m.Run(t, []string{"GOMEMLIMIT=256MiB"}, "test", "./test"))
}
