package pass

import (
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// TestCustomOperatorsStay checks that nodes of which only the user's program knows what
// they compute run in every call, each of them: they are not folded, joined or prepared.
// Those that nobody reads are dropped.
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
	if err := All(&Context{}, m, Options{Outline: true}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(m.Func(Forward).String(), " = custom "); n != 4 {
		t.Errorf("%d custom nodes are left, 4 expected\n%s", n, m)
	}
	if n := strings.Count(m.String(), " = custom "); n != 4 {
		t.Errorf("%d custom nodes, none in another function expected\n%s", n, m)
	}
}
