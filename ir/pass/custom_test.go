package pass_test

import (
	"strings"
	"testing"

	"github.com/burngen/burngen/gen/target/cpu"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/ir/pass"
)

// TestCustomOperatorsStay checks that nodes of custom operators run in every call: they are not
// folded, merged or prepared. Only unused nodes are removed.
func TestCustomOperatorsStay(t *testing.T) {
	m, err := ir.Parse(`weight w : f32[4]
func @forward(%x: f32[4]) -> (y: f32[4]) {
  %w = load {name="w"} : f32[4]
  %c = constant {value=f32[4](1,2,3,4)} : f32[4]
  %a = custom %w {name="A" func="ops.A" type="(f32[N]) -> f32[N]"} : f32[4]
  %b = custom %w {name="A" func="ops.A" type="(f32[N]) -> f32[N]"} : f32[4]
  %d = custom %c {name="A" func="ops.A" type="(f32[N]) -> f32[N]"} : f32[4]
  %e = custom {name="B" func="ops.B" type="() -> f32[4]"} : f32[4]
  %unused = custom %x {name="A" func="ops.A" type="(f32[N]) -> f32[N]"} : f32[4]
  %ab = add %a, %b : f32[4]
  %de = mul %d, %e : f32[4]
  %s = sub %ab, %de : f32[4]
  %y = add %s, %x : f32[4]
  return %y
}`, op.Set)
	if err != nil {
		t.Fatal(err)
	}
	m.Weight("w").Data = make([]byte, 16)
	if err := pass.All(&pass.Context{Target: cpu.Target{}}, m, pass.Options{Outline: true}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(m.Func(pass.Forward).String(), " = custom "); n != 4 {
		t.Errorf("%d custom nodes are left, 4 expected\n%s", n, m)
	}
	if n := strings.Count(m.String(), " = custom "); n != 4 {
		t.Errorf("%d custom nodes, none in another function expected\n%s", n, m)
	}
}
