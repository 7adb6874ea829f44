package op

import (
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// TestFusion evaluates a product with elementwise operators on its result, and counts its operations.
func TestFusion(t *testing.T) {
	m, err := ir.Parse(`func @forward(%x: f32[N,2], %w: f32[2,3], %b: f32[3]) -> (y: f32[N,3]) {
  %0 = fusion %x, %w, %b {own=2} : f32[N,3]
    region (%p: f32[N,2], %q: f32[2,3], %r: f32[3]) {
      %1 = mat_mul %p, %q : f32[N,3]
      %2 = pointwise %1, %r : f32[N,3]
        region (%s: f32[], %t: f32[]) {
          %3 = add %s, %t : f32[]
          return %3
        }
      return %2
    }
  return %0
}
`, ir.NewOpSet(append(ir.Builtin(), Ops...)...))
	if err != nil {
		t.Fatal(err)
	}
	args := []*ir.Tensor{ir.FloatTensor(ir.F32, 1, 2).Reshape(1, 2), ir.FloatTensor(ir.F32, 1, 2, 3, 4, 5, 6).Reshape(2, 3), ir.FloatTensor(ir.F32, 10, 20, 30)}
	y, err := (&ir.Evaluator{Module: m}).Run(m.Func("forward"), args)
	if err != nil {
		t.Fatal(err)
	}
	if want := ir.FloatTensor(ir.F32, 19, 32, 45).Reshape(1, 3); !y[0].Equal(want) {
		t.Errorf("got %s, want %s", y[0], want)
	}
	n := m.Func("forward").Nodes[0]
	if want := dim.Sym("N").Mul(dim.Const(2*2*3 + 3)); !n.Work().Flops.Equal(want) {
		t.Errorf("%s operations, want %s", n.Work().Flops, want)
	}
	for _, f := range []Fusion{{Own: -1}, {Own: 4}} {
		if _, err := f.InferBlocks(n.ArgTypes(), n.Blocks); err == nil {
			t.Errorf("%+v has %d operands", f, len(n.Args))
		}
	}
	if _, err := (Fusion{}).InferBlocks(n.ArgTypes()[:2], n.Blocks); err == nil {
		t.Error("an operand is absent")
	}
}
