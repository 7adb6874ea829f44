package storage

import (
	"slices"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// TestEmptyLanes asserts that what an operator says about the lanes beyond the channels is what it
// computes.
func TestEmptyLanes(t *testing.T) {
	x := numbered(typeOf(t, "f32[2,20,5,6]"))
	bytes := numbered(typeOf(t, "u8[2,20,5,6]"))
	blocked := evaluated(t, Block{}, x)
	window := op.Window{Kernel: []int{2, 2}}
	for _, c := range []struct {
		op ir.Op
		in []*ir.Tensor
	}{
		{Block{}, []*ir.Tensor{x}},
		{BlockBytes{Lanes: block}, []*ir.Tensor{bytes}},
		{op.AveragePool{Window: window, Blocked: true}, []*ir.Tensor{blocked}},
		{op.GlobalAveragePool{Blocked: true}, []*ir.Tensor{blocked}},
		{ConvBlocked{Window: window, InC: 20, OutC: 20, Group: 1}, []*ir.Tensor{blocked, evaluated(t, PackConv{Group: 1, InBlock: block}, numbered(typeOf(t, "f32[20,20,2,2]")))}},
	} {
		numbers, ok := EmptyLanes(&ir.Node{Op: c.op})
		if !ok || len(numbers) == 0 {
			t.Errorf("the empty lanes of %s are unknown", ir.OpName(c.op))
			continue
		}
		y := evaluated(t, c.op, c.in...)
		blocks, plane := y.Shape[1], op.LenOf(y.Shape[2:len(y.Shape)-1])
		for i, v := range op.NumbersOf(y) {
			if channel := i/block/plane%blocks*block + i%block; channel >= 20 && !slices.Contains(numbers, v) {
				t.Errorf("%s: a lane beyond the channels holds %v, want one of %v", ir.OpName(c.op), v, numbers)
				break
			}
		}
	}
	if _, ok := EmptyLanes(&ir.Node{Op: op.Exp{}}); ok {
		t.Error("the empty lanes of exp are known without those of its operand")
	}
}

// evaluated returns the first result of an operator.
func evaluated(t *testing.T, o ir.Op, in ...*ir.Tensor) *ir.Tensor {
	t.Helper()
	out, err := o.(interface {
		Eval(in []*ir.Tensor) ([]*ir.Tensor, error)
	}).Eval(in)
	if err != nil {
		t.Fatal(err)
	}
	return out[0]
}
