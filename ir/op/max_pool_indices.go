package op

import (
	"fmt"
	"math"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// maxPoolIndices appends, for each window of a [MaxPool], the i64 index of its maximum, counted over all elements of
// x in row-major order. If columnMajor is true, it is counted as if the spatial axes were in reverse order.
func maxPoolIndices(b *ir.Builder, x *ir.Value, w Window, columnMajor bool) *ir.Value {
	count, err := w.Places(x.Type.Shape[2:])
	if err != nil {
		ir.FailWith(err)
	}
	spatial, pads := len(w.Kernel), w.Padding(x.Type.Shape[2:])
	steps := make([]dim.Dim, spatial) // from an element of x to the next of a spatial axis
	next := dim.Const(1)
	for k := range spatial {
		i := spatial - 1 - k
		if columnMajor {
			i = k
		}
		steps[i], next = next, next.Mul(x.Type.Shape[2+i])
	}
	number := func(d dim.Dim) *ir.Value { return ReshapeTo(b, b.Dims(d)) }
	along := func(axis int, count, first, step dim.Dim) *ir.Value {
		list := b.Node(Range{Count: count}, number(first), number(step))
		shape := slices.Repeat([]dim.Dim{dim.Const(1)}, 2+spatial-axis)
		shape[0] = count
		return ReshapeTo(b, list, shape...)
	}

	planes := along(1, x.Type.Shape[0].Mul(x.Type.Shape[1]), dim.Const(0), next)
	index := ReshapeTo(b, planes, append(slices.Clone(x.Type.Shape[:2]), planes.Type.Shape[1:]...)...)
	offsets := b.Const(ir.NewTensor(ir.I64, LenOf(w.Kernel)))
	for i, step := range steps {
		places := along(2+i, count[i], pads[i].Mul(step).Neg(), dim.Const(w.Stride(i)).Mul(step))
		index = b.Node(Add{}, index, places)
		walk, ats := newIndex(w.Kernel, w.Kernel), ir.NewTensor(ir.I64, LenOf(w.Kernel))
		for j := range ats.Len() {
			ats.SetInt(j, int64(walk.at[i]*w.Dilation(i)))
			walk.Next()
		}
		offsets = b.Node(Add{}, offsets, b.Node(Mul{}, b.Const(ats), number(step)))
	}
	best := b.Node(ArgMax{Axis: 2 + spatial}, windowCells(b, x, w, count, pads))
	return b.Node(Add{}, index, b.Node(Gather{}, offsets, best))
}

// windowCells appends the elements of each window over x along a new last axis. It pads x with the smallest number.
// count is the number of windows along each spatial axis, and pads are as in [Window.Padding].
func windowCells(b *ir.Builder, x *ir.Value, w Window, count, pads []dim.Dim) *ir.Value {
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
		cells[i] = ReshapeTo(b, cell, append(slices.Clone(cell.Type.Shape), dim.Const(1))...)
	}
	return b.Node(Concat{Axis: x.Type.Rank()}, cells...)
}

// around appends x, padded with value so that count[i] windows fit along spatial axis i. pads[i] is the padding at
// the start of axis i. The padding at the end follows from count.
func (w Window) around(b *ir.Builder, x, value *ir.Value, count, pads []dim.Dim) *ir.Value {
	around := Pad{Mode: "constant", Before: make([]dim.Dim, x.Type.Rank()), After: make([]dim.Dim, x.Type.Rank())}
	for i, n := range count {
		reach := n.Sub(dim.Const(1)).Mul(dim.Const(w.Stride(i))).Add(w.span(i))
		around.Before[2+i] = pads[i]
		around.After[2+i] = reach.Sub(x.Type.Shape[2+i]).Sub(pads[i]).Max(dim.Const(0))
	}
	return b.Node(around, x, value)
}

// cells returns one tensor for each cell of the window, in row-major order of the cells. The tensor holds the
// elements of x that are in this cell, for all windows over x. count is the number of windows along each axis. All
// windows must be inside x.
func (w Window) cells(b *ir.Builder, x *ir.Value, count []dim.Dim) []*ir.Value {
	walk := newIndex(w.Kernel, w.Kernel)
	cells := make([]*ir.Value, LenOf(w.Kernel))
	for j := range cells {
		s := wholeSlice(x.Type)
		for i, k := range walk.at {
			s.Starts[2+i], s.Shape[2+i], s.Steps[2+i] = dim.Const(k*w.Dilation(i)), count[i], w.Stride(i)
		}
		walk.Next()
		cells[j] = ApplySlice(b, x, s)
	}
	return cells
}

// maxCells is the maximum number of cells of a window of a [MaxPool] that also returns Indices.
const maxCells = 1024

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
