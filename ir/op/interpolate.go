package op

import "github.com/burngen/burngen/ir"

// tap is an element that places read along an axis, and its weight: tensors of a number
// for each place.
type tap struct{ at, weight *ir.Value }

// last is the number of the last element of an axis of d, of x's element type.
func (c calculus) last(x *ir.Value, d ir.Dim) *ir.Value { return c.extent(x, d.Sub(ir.Const(1))) }

// within is x, or the nearest number from 0 to a last one.
func (c calculus) within(x, last *ir.Value) *ir.Value {
	return c.Node(Max{}, c.Node(Min{}, x, last), c.num(x, 0))
}

// tap is one along an axis of d; elements outside weigh nothing.
func (c calculus) tap(at, weight *ir.Value, d ir.Dim) tap {
	last := c.last(at, d)
	inside := c.Node(And{}, c.Node(GreaterOrEqual{}, at, c.num(at, 0)), c.Node(LessOrEqual{}, at, last))
	return tap{convert(c.Builder, c.within(at, last), ir.I64), c.where(inside, weight)}
}

// linearTaps are the two elements about a place along an axis of d.
func (c calculus) linearTaps(place *ir.Value, d ir.Dim) []tap {
	first := c.Node(Floor{}, place)
	part := c.sub(place, first)
	return []tap{c.tap(first, c.from(1, part), d), c.tap(c.plus(first, 1), part, d)}
}

// corners appends, for each way of choosing a tap along every axis, the elements of x,
// [N,G,C,axes…], times their weights: [N,G,C,places], of taps of [N,G,places].
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
	x = reshape(c.Builder, x, append(lead, ir.Product(axes...))...)
	parts := make([]*ir.Value, len(all))
	for i, t := range all {
		places := t.at.Type.Shape[2]
		channel := []ir.Dim{lead[0], lead[1], ir.Const(1), places}
		at := expand(c.Builder, reshape(c.Builder, t.at, channel...), append(lead, places)...)
		weight := reshape(c.Builder, convert(c.Builder, t.weight, x.Type.DType), channel...)
		parts[i] = c.mul(c.Node(GatherElements{Axis: 3}, x, at), weight)
	}
	return parts
}

// total adds values up.
func (c calculus) total(values []*ir.Value) *ir.Value {
	sum := values[0]
	for _, v := range values[1:] {
		sum = c.add(sum, v)
	}
	return sum
}
