package launch

import (
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/kernel/elementary"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/templates/kernels"
)

// resizeTables lists the operators that compute the tables of resized axes. They compute in f64.
var resizeTables = []entry{
	computes(resizeOutside),
	computes(resizeTable),
}

func resizeOutside(o op.ResizeOutside, n *ir.Node) ([]kernels.Launch, error) {
	return one(kernels.Map("resize_outside", []dim.Dim{o.Table.Out}, func(e *kernels.Emitter, _ []*kernel.Value, i *kernel.Value) {
		a := sampledAxisOf(e, o.Table, n.Arg(0))
		x := a.place(i)
		e.Write(n.Results[0]).Set(i, e.Or(e.Lt(x, a.num(0)), e.Gt(x, a.last)))
	}))
}

func resizeTable(o op.ResizeTable, n *ir.Node) ([]kernels.Launch, error) {
	if o.Mode == "nearest" {
		return one(kernels.Map("resize_nearest_table", []dim.Dim{o.Out}, func(e *kernels.Emitter, _ []*kernel.Value, i *kernel.Value) {
			a := sampledAxisOf(e, o, n.Arg(0))
			e.Write(n.Results[0]).Set(i, a.clamp(a.round(a.place(i))))
		}))
	}
	return one(kernels.Map("resize_table", []dim.Dim{o.Out, o.Taps}, func(e *kernels.Emitter, at []*kernel.Value, i *kernel.Value) {
		a := sampledAxisOf(e, o, n.Arg(0))
		x := a.place(at[0])
		before := e.Convert(ir.F64, e.Dim(o.Taps.FloorDiv(dim.Const(2)).Sub(dim.Const(1))))
		first := e.Sub(e.Unary(kernel.Floor, x), before)
		// element returns the element that a tap reads.
		element := func(tap *kernel.Value) *kernel.Value { return e.Add(first, e.Convert(ir.F64, tap)) }
		weight := a.weight(x, element(at[1]))
		if o.ExcludeOutside || o.AntiAlias || o.Mode == "lanczos" {
			sum := e.Times(e.Dim(o.Taps), []*kernel.Value{a.num(0)}, func(tap *kernel.Value, sum []*kernel.Value) []*kernel.Value {
				return []*kernel.Value{e.Add(sum[0], a.weight(x, element(tap)))}
			})[0]
			weight = e.Div(weight, e.Select(e.Eq(sum, a.num(0)), a.num(1), sum))
		}
		e.Write(n.Results[0]).Set(i, a.clamp(element(at[1])))
		e.Write(n.Results[1]).Set(i, e.Convert(ir.F32, weight))
	}))
}

// sampledAxis is the axis that a table samples. About `scale` samples are taken for each element of the axis. Its
// methods compute as the CPU's kernels do.
type sampledAxis struct {
	*kernels.Emitter
	op.ResizeTable
	scale, start, end *kernel.Value // points for each element; bounds of the region
	length            *kernel.Value // of the result before it is rounded
	last              *kernel.Value // number of the last element
	filter            *kernel.Value // factor on distances, below 1 to filter with antialiasing
}

// sampledAxisOf returns the axis that a table describes. sampling holds the scale and the region. If sampling is nil,
// they are in o.
func sampledAxisOf(e *kernels.Emitter, o op.ResizeTable, sampling *ir.Value) sampledAxis {
	a := sampledAxis{Emitter: e, ResizeTable: o}
	a.scale, a.start, a.end = a.num(o.Scale), a.num(o.Start), a.num(o.End)
	if sampling != nil {
		t := e.Read(sampling)
		a.scale, a.start, a.end = t.Get(e.Int(0)), t.Get(e.Int(1)), t.Get(e.Int(2))
	}
	in, out := a.count(o.In), a.count(o.Out)
	known := e.Ne(a.scale, a.num(0))
	a.length = e.Select(known, e.Mul(a.scale, in), out)
	a.scale = e.Select(known, a.scale, a.over(out, in))
	a.last = e.Sub(in, a.num(1))
	a.filter = a.num(1)
	if o.AntiAlias {
		a.filter = e.Min(a.scale, a.num(1))
	}
	return a
}

func (a sampledAxis) num(x float64) *kernel.Value { return a.Float(ir.F64, x) }

// over returns x/y. If y is 0, the result is infinite or NaN. The division of some devices does not guarantee that.
func (a sampledAxis) over(x, y *kernel.Value) *kernel.Value {
	return a.Select(a.Eq(y, a.num(0)), a.Mul(x, infinity(a.Emitter, ir.F64)), elementary.Quotient(a.Builder, x, y))
}

func (a sampledAxis) count(d dim.Dim) *kernel.Value { return a.Extent(ir.F64, d) }

// place returns the coordinate of point i on the axis, in elements.
func (a sampledAxis) place(i *kernel.Value) *kernel.Value {
	half, single := a.num(0.5), a.Le(a.Dim(a.Out), a.Int(1))
	point := a.Convert(ir.F64, i)
	middle := func() *kernel.Value { return a.over(a.Add(point, half), a.scale) }
	switch a.Coordinates {
	case "half_pixel_symmetric":
		adjustment := a.over(a.count(a.Out), a.length)
		offset := a.Mul(a.Mul(a.Add(a.last, a.num(1)), half), a.Sub(a.num(1), adjustment))
		return a.Sub(a.Add(offset, middle()), half)
	case "pytorch_half_pixel":
		return a.Select(single, a.num(0), a.Sub(middle(), half))
	case "align_corners":
		x := a.over(a.Mul(point, a.last), a.Sub(a.length, a.num(1)))
		return a.Select(single, a.num(0), x)
	case "asymmetric":
		return a.over(point, a.scale)
	case "tf_half_pixel_for_nn":
		return middle()
	case op.CropAndResizeCoordinates:
		center := a.Mul(half, a.Mul(a.Add(a.start, a.end), a.last))
		along := a.Mul(point, a.Mul(a.Sub(a.end, a.start), a.last))
		x := a.Add(a.Mul(a.start, a.last), a.over(along, a.Sub(a.length, a.num(1))))
		return a.Select(single, center, x)
	}
	return a.Sub(middle(), half)
}

// round returns the element that mode nearest takes for a coordinate.
func (a sampledAxis) round(x *kernel.Value) *kernel.Value {
	floor, ceil := a.Unary(kernel.Floor, x), a.Unary(kernel.Ceil, x)
	switch a.Rounding {
	case "round_prefer_ceil":
		return a.Unary(kernel.Floor, a.Add(x, a.num(0.5)))
	case "floor":
		return floor
	case "ceil":
		return ceil
	case "simple":
		return a.Select(a.Lt(a.scale, a.num(1)), ceil, floor)
	}
	return a.Unary(kernel.Ceil, a.Sub(x, a.num(0.5)))
}

// clamp converts a coordinate to the index of an element, as an i32. The index is clamped to the axis. It is 0 for
// NaN.
func (a sampledAxis) clamp(x *kernel.Value) *kernel.Value {
	return a.Convert(ir.I32, within(a.Emitter, x, a.num(0), a.last))
}

func (a sampledAxis) weight(x, element *kernel.Value) *kernel.Value {
	zero, one, two := a.num(0), a.num(1), a.num(2)
	d := a.Abs(a.Mul(a.Sub(element, x), a.filter))
	c := a.CubicA
	// cubic evaluates a polynomial, highest power first.
	cubic := func(terms ...float64) *kernel.Value {
		y := a.num(terms[0])
		for _, t := range terms[1:] {
			y = a.Add(a.Mul(y, d), a.num(t))
		}
		return y
	}
	var w *kernel.Value
	switch a.Mode {
	case "linear":
		w = a.Max(zero, a.Sub(one, d))
	case "lanczos":
		w = a.lanczos(d)
	default:
		near, far := cubic(c+2, -(c+3), 0, 1), cubic(c, -5*c, 8*c, -4*c)
		w = a.Select(a.Le(d, one), near, a.Select(a.Lt(d, two), far, zero))
	}
	if a.ExcludeOutside {
		outside := a.Or(a.Lt(element, zero), a.Gt(element, a.last))
		w = a.Select(outside, zero, w)
	}
	return w
}

func (a sampledAxis) lanczos(d *kernel.Value) *kernel.Value {
	x := a.Mul(a.num(math.Pi), d)
	sines := a.Mul(elementary.Sin(a.Builder, x), elementary.Sin(a.Builder, elementary.DivBy(a.Builder, x, 3)))
	w := a.over(a.Mul(a.num(3), sines), a.Mul(x, x))
	return a.Select(a.Eq(d, a.num(0)), a.num(1), a.Select(a.Lt(d, a.num(3)), w, a.num(0)))
}
