package gen_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/gen"
	"github.com/burngen/burngen/gen/emit"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/runtime/rt"
)

// reservedNames is a model whose weights have reserved names: two equal weights with names of
// constants, and one with the name of a prepared weight.
const reservedNames = `
weight "const/a" : f32[2,2]
weight "const/b" : f32[2,2]
weight "prepared/w" : f32[2,2]
weight "model/const/b" : f32[2,2]

func @forward(%x: f32[N,2]) -> (y: f32[N,2]) {
  %a = load {name="const/a"} : f32[2,2]
  %b = load {name="const/b"} : f32[2,2]
  %w = load {name="prepared/w"} : f32[2,2]
  %m = load {name="model/const/b"} : f32[2,2]
  %0 = mat_mul %x, %a : f32[N,2]
  %1 = mat_mul %0, %b : f32[N,2]
  %2 = mat_mul %1, %w : f32[N,2]
  %y = mat_mul %2, %m : f32[N,2]
  return %y
}
`

// TestReservedNames compiles reservedNames in every way. The compiler must not take its weights for
// constants or prepared weights, and files may have the weights under the model's names.
func TestReservedNames(t *testing.T) {
	diagonal := func(x float32) []float32 { return []float32{x, 0, 0, x} }
	for _, o := range []gen.Options{{}, {Keep: emit.KeepRaw}, {Keep: emit.KeepBoth}, {Train: true, Loss: "mse"}} {
		module, err := ir.Parse(reservedNames, op.Set)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range module.Weights {
			w.Data = ir.NewTensor(ir.F32, 2, 2).Bytes()
		}
		w := rt.NewWeights()
		for i, name := range []string{"const/a", "const/b", "prepared/w", "model/const/b"} {
			rt.Add(w, name, diagonal(float32(i+2)), 2, 2)
		}
		o.Package, o.Foreign = "names", &gen.Foreign{File: "w.safetensors", Weights: w, InPlace: true}
		m, err := gen.FromModule("names", module, o)
		if err != nil {
			t.Fatal(err)
		}
		files, err := m.Files()
		if err != nil {
			t.Fatal(err)
		}
		if results, _, err := m.Run([]any{[]float32{1, 2}}, [][]int{{1, 2}}); err != nil || !slices.Equal(results[0].([]float32), []float32{120, 240}) {
			t.Errorf("%+v: %v, %v", o.Keep, results, err)
		}
		for _, f := range files {
			if f.Name != "weights.go" {
				continue
			}
			for _, name := range []string{"const/a", "const/b", "prepared/w"} {
				if !strings.Contains(string(f.Data), `Aliases: []string{"`+name+`"}`) {
					t.Errorf("the package does not know %q", name)
				}
			}
		}
	}
}
