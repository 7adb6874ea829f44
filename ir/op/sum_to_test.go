package op

import (
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// TestSumToOfUnknownAxes lowers a sum of four axes, each of which may be summed. The sums are right for
// all choices. An extent that is neither 1 nor the operand's is an error.
func TestSumToOfUnknownAxes(t *testing.T) {
	have := []int{2, 3, 5, 4}
	names := []string{"A", "B", "C", "D"}
	op := SumTo{}
	for _, n := range names {
		op.Shape = append(op.Shape, dim.Sym(n))
	}
	types := []ir.Type{ir.TensorOf(ir.F16, dim.Consts(have...)...)}
	for _, d := range op.Shape {
		types = append(types, ir.TensorOf(ir.Bool, d))
	}
	f := buildFunc(t, types, func(b *ir.Builder, params []*ir.Value) []*ir.Value { return b.Nodes(op, params[0]) })
	g := lowered(t, f)
	x := ir.NewTensor(ir.F16, have...)
	for i := range x.Len() {
		x.SetFloat(i, float64(i%7)-2)
	}
	for choice := range 1 << len(have) {
		args := []*ir.Tensor{x}
		for i, n := range have {
			if choice>>i&1 == 0 {
				n = 1
			}
			args = append(args, ir.NewTensor(ir.Bool, n))
		}
		want, got := run(t, f, args...), run(t, g, args...)
		if !got[0].Equal(want[0]) {
			t.Errorf("choice %04b: %v, evaluated to %v", choice, got[0], want[0])
		}
	}
	for i := range have {
		args := []*ir.Tensor{x}
		for k, n := range have {
			if k == i {
				n--
				if n == 1 {
					n = 3
				}
			}
			args = append(args, ir.NewTensor(ir.Bool, n))
		}
		for _, h := range []*ir.Func{f, g} {
			if _, err := (&ir.Evaluator{Module: &ir.Module{Funcs: []*ir.Func{h}}}).Run(h, args); err == nil {
				t.Errorf("axis %d of extent %d summed to %d: no error", i, have[i], args[1+i].Shape[0])
			}
		}
	}
}
