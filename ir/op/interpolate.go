package op

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// tap describes one of the elements that points read along an axis. For each point, `at` holds the index of the
// element, and `weight` the weight of the element.
type tap struct{ at, weight *ir.Value }

func (c calculus) last(x *ir.Value, d dim.Dim) *ir.Value { return c.extent(x, d.Sub(dim.Const(1))) }

func (c calculus) within(x, last *ir.Value) *ir.Value {
	return c.Node(Max{}, c.Node(Min{}, x, last), c.num(x, 0))
}

// tap returns a tap along an axis of extent d. indices are floats without a fraction. An index outside the axis is
// clamped to the axis, and its weight becomes 0.
func (c calculus) tap(indices, weight *ir.Value, d dim.Dim) tap {
	last := c.last(indices, d)
	inside := c.Node(And{}, c.Node(GreaterOrEqual{}, indices, c.num(indices, 0)), c.Node(LessOrEqual{}, indices, last))
	return tap{ConvertTo(c.Builder, c.within(indices, last), ir.I64), c.where(inside, weight)}
}

// linearTaps returns the two elements around each coordinate in `place`, with the weights of linear interpolation.
// The axis has the extent d.
func (c calculus) linearTaps(place *ir.Value, d dim.Dim) []tap {
	first := c.Node(Floor{}, place)
	part := c.sub(place, first)
	return []tap{c.tap(first, c.from(1, part), d), c.tap(c.plus(first, 1), part, d)}
}

// corners returns the elements of x, [N,G,C,axes…], around points, times their weights. taps[i] holds the taps
// along axis i of axes…. There is one result for each choice of one tap along every axis. Taps are [N,G,points],
// and the results are [N,G,C,points].
func (c calculus) corners(x *ir.Value, taps [][]tap) []*ir.Value {
	lead, axes := x.Type.Shape[:3:3], x.Type.Shape[3:]
	all := taps[0]
	for i, d := range axes[1:] {
		var next []tap
		for _, t := range all {
			for _, along := range taps[1+i] {
				next = append(next, tap{c.add(c.mul(t.at, c.extent(t.at, d)), along.at), c.mul(t.weight, along.weight)})
			}
		}
		all = next
	}
	x = ReshapeTo(c.Builder, x, append(lead, dim.Product(axes...))...)
	parts := make([]*ir.Value, len(all))
	for i, t := range all {
		places := t.at.Type.Shape[2]
		channel := []dim.Dim{lead[0], lead[1], dim.Const(1), places}
		at := ExpandTo(c.Builder, ReshapeTo(c.Builder, t.at, channel...), append(lead, places)...)
		weight := ReshapeTo(c.Builder, ConvertTo(c.Builder, t.weight, x.Type.DType), channel...)
		parts[i] = c.mul(c.Node(GatherElements{Axis: 3}, x, at), weight)
	}
	return parts
}

func (c calculus) total(values []*ir.Value) *ir.Value {
	sum := values[0]
	for _, v := range values[1:] {
		sum = c.add(sum, v)
	}
	return sum
}
