package op

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// Channels is embedded by operators on channels. It gives access to the channels of an operand, floats of
// [N,C,spatial…].
type Channels struct {
	// C is the number of channels of channel-blocked operands, or 0 for planar operands.
	C int
}

func (op Channels) infer(in []ir.Type, count int) (dim.Dim, error) {
	x := in[0]
	if err := checkDomain(in[:1], floats{}); err != nil {
		return dim.Dim{}, err
	}
	for _, t := range in[1:count] {
		if !t.Equal(x) {
			return dim.Dim{}, fmt.Errorf("%s beside %s", t, x)
		}
	}
	if op.C == 0 {
		if x.Rank() < 2 {
			return dim.Dim{}, fmt.Errorf("%s has no channels", x)
		}
		return x.Shape[1], nil
	}
	c := dim.Const(op.C)
	if end, err := SpatialEnd(x, true); err != nil || op.C < 0 || x.DType != ir.F32 || !x.Equal(BlockedType(x.Shape[0], c, x.Shape[2:end])) {
		return c, fmt.Errorf("%s for %d channels", x, op.C)
	}
	return c, nil
}

// of returns the number c of channels of x. It also returns a function that gives the channel of the element of x
// with index i. Padding elements of the channel-blocked layout have channels c, c+1 and so on.
func (op Channels) of(x *ir.Tensor) (channel func(i int) int, c int) {
	if op.C > 0 {
		plane := LenOf(x.Shape[2 : len(x.Shape)-1])
		return func(i int) int { return i/block/plane%x.Shape[1]*block + i%block }, op.C
	}
	inner, c := LenOf(x.Shape[2:]), x.Shape[1]
	return func(i int) int { return i / max(inner, 1) % max(c, 1) }, c
}

// axes returns all axes of a planar x but the axis of channels: 0, 2, 3 and so on.
func (Channels) axes(x ir.Type) []int { return otherAxes(x.Rank(), 1) }

// row appends row i of numbers, [count,C], reshaped so that it broadcasts to the planar x.
func (Channels) row(b *ir.Builder, numbers *ir.Value, i int, x ir.Type) *ir.Value {
	return ReshapeTo(b, sliceAxis(b, numbers, 0, dim.Const(i), dim.Const(1)), perChannel(x.Shape[1], x.Rank()-2)...)
}

// stack appends a matrix of rows, [len(rows),C]. Each row has one number for each of C channels.
func (Channels) stack(b *ir.Builder, rows ...*ir.Value) *ir.Value {
	for i, r := range rows {
		rows[i] = ReshapeTo(b, r, dim.Const(1), r.Type.Elems())
	}
	return b.Node(Concat{Axis: 0}, rows...)
}

// IsPerChannel reports whether a value of type s has one element for each channel of t, [N,C,…],
// and broadcasts to t. It returns false if C is 1.
func IsPerChannel(s, t ir.Type) bool {
	shape := slices.Concat(slices.Repeat(dim.Consts(1), t.Rank()-s.Rank()), s.Shape)
	return shape[1].Equal(t.Shape[1]) && s.Elems().Equal(shape[1]) && !shape[1].Equal(dim.Const(1))
}
