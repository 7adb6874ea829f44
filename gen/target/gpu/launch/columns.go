package launch

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/templates/kernels"
)

var columns = []entry{
	ends(col2Im),
	ends(deformColumns),
}

// foldWindow returns a window with the strides, dilations and pads of o. It has a Kernel of ones instead of o.Block,
// because Kernel holds ints and the extents of o.Block may be symbols.
func foldWindow(o op.Col2Im) op.Window {
	return op.Window{Kernel: slices.Repeat([]int{1}, len(o.Image)), Strides: o.Strides, Dilations: o.Dilations, Pads: o.Pads}
}

// foldPlaces returns the number of windows of a Col2Im along each axis.
func foldPlaces(o op.Col2Im) []dim.Dim {
	one := dim.Const(1)
	w := foldWindow(o)
	pads := w.Padding(o.Image)
	places := make([]dim.Dim, len(o.Image))
	for i, d := range o.Image {
		window := o.Block[i].Sub(one).Mul(dim.Const(w.Dilation(i))).Add(one)
		rest := d.Add(pads[i]).Add(pads[len(o.Image)+i]).Sub(window)
		places[i] = rest.FloorDiv(dim.Const(w.Stride(i))).Add(one).Max(dim.Dim{})
	}
	return places
}

// foldExtents returns two conditions on the extents of the operand of a Col2Im: rows = channels of the result ·
// cells of the window, and columns = number of windows.
func foldExtents(o op.Col2Im, n *ir.Node) []ir.CheckDim {
	x, cells := n.Args[0].Type.Shape, dim.Product(o.Block...)
	return []ir.CheckDim{
		{A: x[1], B: n.Results[0].Type.Shape[1].Mul(cells), What: "rows"},
		{A: x[2], B: dim.Product(foldPlaces(o)...), What: "columns"},
	}
}

// col2Im adds up the columns of windows to images. There is a thread for each element of the images. The thread adds
// up the cells of all windows that contain the element, in the order of the cells.
func col2Im(o op.Col2Im, n *ir.Node, put store) ([]kernels.Launch, error) {
	x, y := n.Args[0], n.Results[0]
	d, ok := kernels.Arithmetic(x.Type.DType)
	if !ok {
		return nil, errNarrow
	}
	w, places := windowOf(foldWindow(o), o.Image), foldPlaces(o)
	cells, count := dim.Product(o.Block...), dim.Product(places...)
	return one(kernels.Map("col2im", y.Type.Shape, func(e *kernels.Emitter, at []*kernel.Value, i *kernel.Value) {
		image := e.Add(e.Mul(at[0], e.Dim(y.Type.Shape[1])), at[1])
		sum := e.Times(e.Dim(cells), []*kernel.Value{e.Number(d, 0)}, func(cell *kernel.Value, sum []*kernel.Value) []*kernel.Value {
			place, exists := w.places(e, at[2:], e.Unflatten(cell, o.Block), places)
			return e.If(exists, func() []*kernel.Value {
				row := e.Add(e.Mul(image, e.Dim(cells)), cell)
				column := e.Int(0)
				for k, p := range place {
					column = e.Add(e.Mul(column, e.Dim(places[k])), p)
				}
				return []*kernel.Value{e.Add(sum[0], e.Read(x).Get(e.Add(e.Mul(row, e.Dim(count)), column)))}
			}, func() []*kernel.Value { return sum })
		})
		put(e, i, at, sum[0])
	}))
}

// deformColumns computes the columns of a deformable convolution: the elements under each window, at cells that are
// moved by fractional offsets. A thread computes an element of the columns. It interpolates between the elements
// around the moved cell. Coordinates are computed in f64.
func deformColumns(o op.DeformColumns, n *ir.Node, put store) ([]kernels.Launch, error) {
	x, offsets, factors := n.Args[0], n.Args[1], n.Arg(2)
	d, ok := kernels.Arithmetic(x.Type.DType)
	shape, out := x.Type.Shape, offsets.Type.Shape[2:]
	axes := shape[2:]
	switch {
	case !ok:
		return nil, errNarrow
	case 1<<len(axes) > maxGridTaps:
		return nil, fmt.Errorf("more than %d elements for a place", maxGridTaps)
	}
	w, groups, taps, count := windowOf(o.Window, axes), dim.Const(o.Offsets), dim.Consts(o.Kernel...), dim.Product(out...)
	cells := dim.Product(taps...)
	of := []dim.Dim{shape[0], groups, shape[1].FloorDiv(groups), cells, count}
	return one(kernels.Map("deform_columns", of, func(e *kernels.Emitter, at []*kernel.Value, i *kernel.Value) {
		cell, place := e.Unflatten(at[3], taps), e.Unflatten(at[4], out)
		group := e.Add(e.Mul(at[0], e.Dim(groups)), at[1])
		moved := e.Add(e.Mul(group, e.Dim(cells)), at[3])
		origin, _ := w.cells(e, place, cell)
		samples := make([][]sample, len(axes))
		for k, extent := range axes {
			from := e.Add(e.Mul(moved, e.Int(len(axes))), e.Int(k))
			offset := e.Read(offsets).Get(e.Add(e.Mul(from, e.Dim(count)), at[4]))
			samples[k] = around(e, d, e.Add(e.Convert(ir.F64, origin[k]), e.Convert(ir.F64, offset)), extent)
		}
		factor := e.Float(d, 1)
		if factors != nil {
			factor = e.Read(factors).Get(e.Add(e.Mul(moved, e.Dim(count)), at[4]))
		}
		channel := e.Add(e.Mul(group, e.Dim(of[2])), at[2])
		sum := e.Float(d, 0)
		corners(e, samples, nil, e.Bool(true), factor, func(places []*kernel.Value, inside, weight *kernel.Value) {
			from := channel
			for k, p := range places {
				from = e.Add(e.Mul(from, e.Dim(axes[k])), p)
			}
			sum = e.If(inside, func() []*kernel.Value {
				return []*kernel.Value{e.Add(sum, e.Mul(weight, e.Read(x).Get(from)))}
			}, func() []*kernel.Value { return []*kernel.Value{sum} })[0]
		})
		put(e, i, nil, sum)
	}))
}

// around returns the two elements next to `place`, a fractional coordinate on an axis, with their
// weights. place is an f64, and the weights have type d.
func around(e *kernels.Emitter, d ir.DType, place *kernel.Value, extent dim.Dim) []sample {
	count := e.Convert(ir.F64, e.Dim(extent))
	place = within(e, place, e.Float(ir.F64, -2), e.Add(count, e.Float(ir.F64, 1)))
	first := e.Unary(kernel.Floor, place)
	part := e.Convert(d, e.Sub(place, first))
	at := func(element, weight *kernel.Value) sample {
		inside := e.And(e.Ge(element, e.Float(ir.F64, 0)), e.Lt(element, count))
		return sample{e.Convert(ir.I32, element), inside, weight}
	}
	return []sample{at(first, e.Sub(e.Float(d, 1), part)), at(e.Add(first, e.Float(ir.F64, 1)), part)}
}
