package gen

import (
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// TestFixLeavesGradientsAlone asserts that -dim sets symbols of methods only. A function that computes
// gradients has symbols of its own.
func TestFixLeavesGradientsAlone(t *testing.T) {
	m, err := ir.Parse(`func @forward(%x: f32[N]) -> (y: f32[N]) {
  %y = custom %x {name="a.B" func="ops.B" type="(f32[N]) -> f32[N]" gradient="gradient.B"} : f32[N]
  return %y
}
func @gradient.B(%x: f32[N], %y: f32[N], %dy: f32[N]) -> (dx: f32[N]) {
  return %dy
}
`, op.Set)
	if err != nil {
		t.Fatal(err)
	}
	src := SourceOf("model", m)
	if len(src.Functions) != 1 || src.Functions[0].Name != "forward" {
		t.Errorf("the methods are %v", src.Functions)
	}
	if err := src.fix(map[string]string{"N": "4"}); err != nil {
		t.Fatal(err)
	}
	if got := m.Func("forward").Params[0].Type.String(); got != "f32[4]" {
		t.Errorf("the parameter is %s", got)
	}
	if text := m.Func("gradient.B").String(); strings.Contains(text, "4") {
		t.Errorf("the gradient is\n%s", text)
	}
}
