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
	count, err := w.shape(x.Type.Shape[2:])
	if err != nil {
		ir.FailWith(err)
	}
	spatial, pads := len(w.Kernel), w.pads(x.Type.Shape[2:])
	steps := make([]ir.Dim, spatial) // from an element of x to the next of a spatial axis
	next := ir.Const(1)
	for k := range spatial {
		i := spatial - 1 - k
		if columnMajor {
			i = k
		}
		steps[i], next = next, next.Mul(x.Type.Shape[2+i])
	}
	number := func(d ir.Dim) *ir.Value { return reshape(b, b.Dims(d)) }
	along := func(axis int, count, first, step ir.Dim) *ir.Value {
		list := b.Node(Range{Count: count}, number(first), number(step))
		shape := slices.Repeat([]ir.Dim{ir.Const(1)}, 2+spatial-axis)
		shape[0] = count
		return reshape(b, list, shape...)
	}

	planes := along(1, x.Type.Shape[0].Mul(x.Type.Shape[1]), ir.Const(0), next)
	index := reshape(b, planes, append(slices.Clone(x.Type.Shape[:2]), planes.Type.Shape[1:]...)...)
	offsets := b.Const(ir.NewTensor(ir.I64, lenOf(w.Kernel)))
	for i, step := range steps {
		places := along(2+i, count[i], pads[i].Mul(step).Neg(), ir.Const(w.stride(i)).Mul(step))
		index = b.Node(Add{}, index, places)
		walk, ats := newIndex(w.Kernel, w.Kernel), ir.NewTensor(ir.I64, lenOf(w.Kernel))
		for j := range ats.Len() {
			ats.SetInt(j, int64(walk.at[i]*w.dilation(i)))
			walk.Next()
		}
		offsets = b.Node(Add{}, offsets, b.Node(Mul{}, b.Const(ats), number(step)))
	}
	best := b.Node(ArgMax{Axis: 2 + spatial}, windowCells(b, x, w, count, pads))
	return b.Node(Add{}, index, b.Node(Gather{}, offsets, best))
}

// windowCells appends the cells of each window over x, padded with the least
// number, along a last axis.
func windowCells(b *ir.Builder, x *ir.Value, w Window, count, pads []ir.Dim) *ir.Value {
	d := x.Type.DType
	least := ir.NewTensor(d)
	if d.IsFloat() {
		least.SetFloat(0, math.Inf(-1))
	} else {
		v, _ := intRange(d)
		least.SetInt(0, v)
	}
	cells := w.cells(b, w.around(b, x, b.Const(least), count, pads), count)
	for i, cell := range cells {
		cells[i] = reshape(b, cell, append(slices.Clone(cell.Type.Shape), ir.Const(1))...)
	}
	return b.Node(Concat{Axis: x.Type.Rank()}, cells...)
}

// around appends x with what so many windows reach beyond it, each cell of it value.
func (w Window) around(b *ir.Builder, x, value *ir.Value, count, pads []ir.Dim) *ir.Value {
	around := Pad{Mode: "constant", Before: make([]ir.Dim, x.Type.Rank()), After: make([]ir.Dim, x.Type.Rank())}
	for i, n := range count {
		reach := n.Sub(ir.Const(1)).Mul(ir.Const(w.stride(i))).Add(w.span(i))
		around.Before[2+i] = pads[i]
		around.After[2+i] = reach.Sub(x.Type.Shape[2+i]).Sub(pads[i]).Max(ir.Const(0))
	}
	return b.Node(around, x, value)
}

// cells appends, for each cell of the window in row-major order, that cell of all
// windows over x, of which there are so many and which stay within it.
func (w Window) cells(b *ir.Builder, x *ir.Value, count []ir.Dim) []*ir.Value {
	walk := newIndex(w.Kernel, w.Kernel)
	cells := make([]*ir.Value, lenOf(w.Kernel))
	for j := range cells {
		s := wholeSlice(x.Type)
		for i, k := range walk.at {
			s.Starts[2+i], s.Shape[2+i], s.Steps[2+i] = ir.Const(k*w.dilation(i)), count[i], w.stride(i)
		}
		walk.Next()
		cells[j] = applySlice(b, x, s)
	}
	return cells
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
