package exec_test

import (
	"context"
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/gen/target/targettest/text"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// TestPrepared asserts that a function reads what another prepared, and raw weights.
func TestPrepared(t *testing.T) {
	m, err := ir.Parse(`weight w : f32[2]
weight b : f32[2]
weight v : f32[2]
weight p : f32[2]

func @prepare() -> (v: f32[2], p: f32[2]) {
  %r = load {name="w"} : f32[2]
  %b = load {name="b"} : f32[2]
  %v = neg %r : f32[2]
  %p = mul %b, %b : f32[2]
  return %v, %p
}

func @f(%x: f32[2]) -> (y: f32[2]) {
  %v = load {name="v"} : f32[2]
  %p = load {name="p"} : f32[2]
  %b = load {name="b"} : f32[2]
  %s = mul %x, %v : f32[2]
  %a = add %s, %p : f32[2]
  %y = add %a, %b : f32[2]
  return %y
}
`, op.Set)
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]float32{"w": 2, "b": 3} {
		var data []byte
		for range 2 {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(x))
		}
		m.Weight(name).Data = data
	}
	f, err := exec.Prepared(text.Target{}, m, "prepare", "f")
	if err != nil {
		t.Fatal(err)
	}
	out, _, err := f.Run(context.Background(), []any{[]float32{1, 10}}, [][]int{{2}})
	if err != nil || !slices.Equal(out[0].([]float32), []float32{-2 + 9 + 3, -20 + 9 + 3}) {
		t.Errorf("%v, error %v", out, err)
	}
}
