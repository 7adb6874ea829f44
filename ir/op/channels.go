package op

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
)

// channels says how an operator finds the channels of its operands, floats of
// [N,C,spatial…].
type channels struct {
	// C is the number of channels of channel-blocked operands, 0 of planar ones.
	C int
}

// infer checks count operands of one type with channels, and returns their number.
func (op channels) infer(in []ir.Type, count int) (ir.Dim, error) {
	x := in[0]
	if err := checkDomain(in[:1], floats{}); err != nil {
		return ir.Dim{}, err
	}
	for _, t := range in[1:count] {
		if !t.Equal(x) {
			return ir.Dim{}, fmt.Errorf("%s beside %s", t, x)
		}
	}
	if op.C == 0 {
		if x.Rank() < 2 {
			return ir.Dim{}, fmt.Errorf("%s has no channels", x)
		}
		return x.Shape[1], nil
	}
	c := ir.Const(op.C)
	if end, err := spatialEnd(x, true); err != nil || op.C < 0 || x.DType != ir.F32 || !x.Equal(blockedType(x.Shape[0], c, x.Shape[2:end])) {
		return c, fmt.Errorf("%s for %d channels", x, op.C)
	}
	return c, nil
}

// of returns the channel of element i of a tensor; those that there are not are beyond all.
func (op channels) of(x *ir.Tensor) (of func(i int) int, c int) {
	if op.C > 0 {
		plane := lenOf(x.Shape[2 : len(x.Shape)-1])
		return func(i int) int { return i/block/plane%x.Shape[1]*block + i%block }, op.C
	}
	inner, c := lenOf(x.Shape[2:]), x.Shape[1]
	return func(i int) int { return i / max(inner, 1) % max(c, 1) }, c
}

// sizes are the last arguments of the kernels: images, channels, and pixels.
func (op channels) sizes(x ir.Type) ([]any, error) {
	end, err := spatialEnd(x, true)
	if op.C == 0 || err != nil {
		return nil, fmt.Errorf("no kernel for %s", x)
	}
	return []any{x.Shape[0], op.C, ir.Product(x.Shape[2:end]...)}, nil
}

// relayout returns the blocked forms of operands of one type, one of which is there; nil
// where none is.
func (channels) relayout(l Layouts, args ...*ir.Value) (blocked []*ir.Value, c int) {
	if !slices.ContainsFunc(args, func(v *ir.Value) bool { return l.Blocked(v) != nil }) || args[0].Type.DType != ir.F32 {
		return nil, 0
	}
	for _, v := range args {
		blocked = append(blocked, l.Block(v))
	}
	c, _ = args[0].Type.Shape[1].Int()
	return blocked, c
}

// axes are those that planar operands are summed over.
func (channels) axes(x ir.Type) []int { return otherAxes(x.Rank(), 1) }

// row appends row i of numbers, [count,C], in a shape that broadcasts to the planar x.
func (channels) row(b *ir.Builder, numbers *ir.Value, i int, x ir.Type) *ir.Value {
	return reshape(b, sliceAxis(b, numbers, 0, ir.Const(i), ir.Const(1)), perChannel(x.Shape[1], x.Rank()-2)...)
}

// stack appends [count,C] of values that have a number for each of C channels.
func (channels) stack(b *ir.Builder, rows ...*ir.Value) *ir.Value {
	for i, r := range rows {
		rows[i] = reshape(b, r, ir.Const(1), r.Type.Elems())
	}
	return b.Node(Concat{Axis: 0}, rows...)
}
