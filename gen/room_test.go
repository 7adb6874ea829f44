package gen_test

import (
	"testing"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/gen/target/cpu"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/onnx"
	"github.com/burngen/burngen/onnx/onnxtest"
)

// TestRoomIsMadeFirst compiles nodes whose extents are operands. The memory for the result of such
// a node must be requested before anything is computed.
func TestRoomIsMadeFirst(t *testing.T) {
	sized := func(op string, n int, inputs []string, attrs ...onnxtest.Attr) *onnxtest.Model {
		return onnxtest.New(21).Input("x", ir.F32, 1, 1, 2, 2).Input("n", ir.I64, n).Input("s", ir.F32, 4).
			Output("y", ir.F32, "A", "B", "C", "D").Node("node", op, inputs, list("y"), attrs...)
	}
	mode := func(m string) onnxtest.Attr { return onnxtest.Attr{Name: "mode", Value: m} }
	for name, m := range map[string]*onnxtest.Model{
		"resize to sizes":             sized("Resize", 4, list("x", "", "", "n")),
		"resize by scales":            sized("Resize", 4, list("x", "", "s", "")),
		"resize linearly":             sized("Resize", 4, list("x", "", "s", ""), mode("linear")),
		"resize cubically":            sized("Resize", 4, list("x", "", "", "n"), mode("cubic")),
		"tile":                        sized("Tile", 4, list("x", "n")),
		"expand":                      sized("Expand", 4, list("x", "n")),
		"pad":                         sized("Pad", 8, list("x", "n")),
		"pad by what is at the edges": sized("Pad", 8, list("x", "n"), mode("edge")),
	} {
		t.Run(name, func(t *testing.T) {
			src, err := onnx.Read("model.onnx", m.Bytes(), nil, onnx.Options{})
			if err != nil {
				t.Fatal(err)
			}
			c, err := gen.Compile(src, gen.Options{Package: "model"})
			if err != nil {
				t.Fatal(err)
			}
			allocs, computes := 0, ""
			for _, s := range c.Forward.Steps {
				switch s := s.(type) {
				case *program.Alloc:
					allocs++
					if computes != "" {
						t.Errorf("%s runs before room for %s elements", computes, s.Buffer.Elems)
					}
				case *cpu.Call:
					if s.Node != nil && s.Node.Pos == "node" && s.Kernel.Name != "Cast" && computes == "" {
						computes = s.Kernel.Name
					}
				}
			}
			if allocs == 0 {
				t.Error("no room is made")
			}
		})
	}
}
