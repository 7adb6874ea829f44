package kernels

import (
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
)

// maxLanes is the largest number of adjacent elements that a thread of [MapLanes] computes.
const maxLanes = 8

// LanesOf returns how many adjacent elements a thread should compute. The number is a power of two, and this number
// of elements has at most 16 bytes. `size` is the size of an element in bytes, and total the number of all elements.
// If total is small, the result is 1. work is about the number of operations for an element. If work is large, the
// result is smaller, because the code is repeated for each element.
func LanesOf(total dim.Dim, size, work int) int {
	const few, long = 1 << 15, 128
	if n, ok := total.Int(); ok && n < few {
		return 1 // more threads are better
	}
	lanes := min(maxLanes, 16/size)
	for lanes > 1 && lanes*work > long {
		lanes /= 2
	}
	return lanes
}

// MapLanes is like [Map], but a thread computes `lanes` adjacent elements. lanes is a power of two. Stores by
// [Tensor.Set] and [Tensor.SetRaw] happen only when all these elements have been computed. `element` must not store
// inside a loop or a condition.
func MapLanes(name string, shape []dim.Dim, lanes int, element func(e *Emitter, at []*kernel.Value, i *kernel.Value)) (Launch, error) {
	if lanes == 1 {
		return Map(name, shape, element)
	}
	total, width := dim.Product(shape...), dim.Const(lanes)
	return Grid(name, []dim.Dim{total.CeilDiv(dim.Const(lanes * Threads))}, []int{Threads}, func(e *Emitter) func([]*kernel.Value) {
		_, whole := total.DivExact(width)
		groups := e.Dim(total.CeilDiv(width))
		return func(block []*kernel.Value) {
			group := e.Add(e.Mul(block[0], e.Int(Threads)), e.Thread(0))
			first := e.Mul(group, e.Int(lanes))
			all := func() {
				indices := e.laneIndices(group, shape, lanes)
				e.together(first, lanes, func(lane int, i *kernel.Value) { element(e, indices[lane], i) })
			}
			e.Do(e.Lt(group, groups), func() {
				if whole {
					all()
					return
				}
				end := e.Dim(total)
				e.If(e.Le(e.Add(first, e.Int(lanes)), end), func() []*kernel.Value { all(); return nil }, func() []*kernel.Value {
					e.For(first, end, e.Int(1), nil, func(i *kernel.Value, _ []*kernel.Value) []*kernel.Value {
						element(e, e.Unflatten(i, shape), i)
						return nil
					})
					return nil
				})
			})
		}
	})
}

// laneIndices returns the indices of the `lanes` adjacent elements of a group: for each element, its index on each
// axis.
func (e *Emitter) laneIndices(group *kernel.Value, shape []dim.Dim, lanes int) [][]*kernel.Value {
	out := make([][]*kernel.Value, lanes)
	last := len(shape) - 1
	for last > 0 && shape[last].Equal(dim.Const(1)) {
		last--
	}
	if last >= 0 {
		if width, ok := shape[last].DivExact(dim.Const(lanes)); ok { // the elements differ on one axis
			groups := append([]dim.Dim{}, shape...)
			groups[last] = width
			base := e.Unflatten(group, groups)
			for k := range out {
				out[k] = append([]*kernel.Value{}, base...)
				out[k][last] = e.Add(e.Mul(base[last], e.Int(lanes)), e.Int(k))
			}
			return out
		}
	}
	for k := range out {
		out[k] = e.Unflatten(e.Add(e.Mul(group, e.Int(lanes)), e.Int(k)), shape)
	}
	return out
}
