package verify

import (
	"fmt"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

func TestQuantumOfOutputs(t *testing.T) {
	const dequantised = "%0 = dequantize_linear %q, %s {to=f32} : f32[4,3]"
	for _, c := range []struct {
		name     string
		operator string // that the model has
		nodes    string
		result   string
		typ      string
		want     float64
	}{
		{"dequantised", "DequantizeLinear", dequantised, "%0", "f32[4,3]", 0.25},
		{"dequantised and moved", "DequantizeLinear", dequantised + `
			%1 = transpose %0 {perm=[1,0]} : f32[3,4]
			%2 = reshape %1 {shape=[12]} : f32[12]`, "%2", "f32[12]", 0.25},
		{"one scale in a vector", "DequantizeLinear", "%0 = dequantize_linear %q, %v {to=f32} : f32[4,3]", "%0", "f32[4,3]", 0.5},
		{"a scale for each row", "DequantizeLinear", "%0 = dequantize_linear %q, %rows {to=f32} : f32[4,3]", "%0", "f32[4,3]", 0},
		{"a scale that is an input", "DequantizeLinear", "%0 = dequantize_linear %q, %given {to=f32} : f32[4,3]", "%0", "f32[4,3]", 0},
		{"computed from what is dequantised", "DequantizeLinear", dequantised + `
			%1 = relu %0 : f32[4,3]`, "%1", "f32[4,3]", 0},
		{"integers of a model that quantises", "QuantizeLinear", "", "%q", "u8[4,3]", 1},
		{"wide integers", "QuantizeLinear", "%0 = cast %q {to=i32} : i32[4,3]", "%0", "i32[4,3]", 0},
		{"integers of another model", "Identity", "", "%q", "u8[4,3]", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := ir.Parse(fmt.Sprintf(`func @forward(%%q: u8[4,3], %%given: f32[]) -> (y: %s) {
				%%s = constant {value=f32[](0.25)} : f32[]
				%%v = constant {value=f32[1](0.5)} : f32[1]
				%%rows = constant {value=f32[4](1,2,3,4)} : f32[4]
				%s
				return %s
			}`, c.typ, c.nodes, c.result), op.Set)
			if err != nil {
				t.Fatal(err)
			}
			p := portsOf(m.Func("forward"), map[string]int{c.operator: 1})
			if got := p.results[0].quantum; got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
