package op

import (
	"fmt"
	"math"
	"slices"

	"github.com/burngen/burngen/ir"
)

// maxPoolIndices appends where the elements of a [MaxPool] over x stand, as i64
// numbers over all of x; its spatial axes count in row-major order, or in
// column-major order. The cells of each window are put along an axis, of which
// [ArgMax] gives a place; it and the window's own place tell the number.
func maxPoolIndices(b *ir.Builder, x *ir.Value, w Window, columnMajor bool) *ir.Value {
	shape, ok := x.Type.Static()
	out, err := w.shape(x.Type.Shape[2:])
	if err != nil {
		ir.FailWith(err)
	}
	count, okOut := ir.Ints(out)
	if !ok || !okOut {
		ir.Fail("result Indices of %s: an extent is not known before the model runs", x.Type)
	}
	spatial := len(w.Kernel)
	pads, _ := ir.Ints(w.pads(x.Type.Shape[2:]))
	steps := make([]int, spatial) // from an element of x to the next of a spatial axis
	next := 1
	for k := range spatial {
		i := spatial - 1 - k
		if columnMajor {
			i = k
		}
		steps[i], next = next, next*shape[2+i]
	}

	taps := lenOf(w.Kernel)
	offsets, places := ir.NewTensor(ir.I64, taps), ir.NewTensor(ir.I64, count...)
	number := func(t *ir.Tensor, extents []int, of func(i, at int) int) {
		walk := newIndex(extents, extents)
		for j := range t.Len() {
			sum := 0
			for i, at := range walk.at {
				sum += of(i, at) * steps[i]
			}
			t.SetInt(j, int64(sum))
			walk.Next()
		}
	}
	number(offsets, w.Kernel, func(i, at int) int { return at * w.dilation(i) })
	number(places, count, func(i, at int) int { return at*w.stride(i) - pads[i] })
	planes := ir.NewTensor(ir.I64, append([]int{shape[0], shape[1]}, slices.Repeat([]int{1}, spatial)...)...)
	for i := range planes.Len() {
		planes.SetInt(i, int64(i*next))
	}

	best := b.Node(ArgMax{Axis: 2 + spatial}, windowCells(b, x, w, count, pads))
	index := b.Node(Gather{}, b.Const(offsets), best)
	return b.Node(Add{}, b.Node(Add{}, index, b.Const(places)), b.Const(planes))
}

// windowCells appends the cells of each window over x, padded with the least
// number, along a last axis.
func windowCells(b *ir.Builder, x *ir.Value, w Window, count, pads []int) *ir.Value {
	d := x.Type.DType
	least := ir.NewTensor(d)
	if d.IsFloat() {
		least.SetFloat(0, math.Inf(-1))
	} else {
		v, _ := intRange(d)
		least.SetInt(0, v)
	}
	around := Pad{Mode: "constant", Before: make([]ir.Dim, x.Type.Rank()), After: make([]ir.Dim, x.Type.Rank())}
	for i, n := range count {
		extent, _ := x.Type.Shape[2+i].Int()
		span, _ := w.span(i).Int()
		around.Before[2+i] = ir.Const(pads[i])
		around.After[2+i] = ir.Const(max(0, (n-1)*w.stride(i)+span-extent-pads[i]))
	}
	x = b.Node(around, x, b.Const(least))
	walk := newIndex(w.Kernel, w.Kernel)
	var cells []*ir.Value
	for range lenOf(w.Kernel) {
		s := wholeSlice(x.Type)
		for i, k := range walk.at {
			s.Starts[2+i], s.Shape[2+i], s.Steps[2+i] = ir.Const(k*w.dilation(i)), ir.Const(count[i]), w.stride(i)
		}
		walk.Next()
		cell := applySlice(b, x, s)
		cells = append(cells, reshape(b, cell, append(slices.Clone(cell.Type.Shape), ir.Const(1))...))
	}
	return b.Node(Concat{Axis: x.Type.Rank()}, cells...)
}

// maxCells is the largest window whose cells are put side by side.
const maxCells = 1024

// checkCells refuses windows that are too large for [windowCells].
func checkCells(w Window) error {
	n := 1
	for _, k := range w.Kernel {
		if n > maxCells/k {
			return fmt.Errorf("result Indices of a window %v of more than %d cells", w.Kernel, maxCells)
		}
		n *= k
	}
	return nil
}
