package launch

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/kernel/elementary"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/templates/kernels"
)

var regions = []entry{
	computes(maxRoiPool),
	computes(roiAlign),
}

// maxRoiPool computes the maximum of each bin of a region. A first kernel checks the index of each region's image. A
// second kernel has a thread for each bin of each channel. Coordinates are rounded as in the kernels of the CPU.
func maxRoiPool(o op.MaxRoiPool, n *ir.Node) ([]kernels.Launch, error) {
	x, rois, y := n.Args[0], n.Args[1], n.Results[0]
	d, shape := x.Type.DType, x.Type.Shape
	if d != ir.F32 && d != ir.F64 {
		return nil, errNarrow
	}
	// image returns the index of the image of a region.
	image := func(e *kernels.Emitter, region *kernel.Value) *kernel.Value {
		v := e.Unary(kernel.Floor, e.Convert(ir.F64, e.Read(rois).Get(e.Mul(region, e.Int(5)))))
		return e.Convert(ir.I32, within(e, v, e.Float(ir.F64, math.MinInt32), e.Float(ir.F64, math.MaxInt32)))
	}
	check, err := kernels.Rows("check_regions", dim.Const(1), rois.Type.Shape[0], func(r *kernels.Row) {
		setFault(r, ir.I32, shape[0], func(i *kernel.Value) *kernel.Value { return image(r.Emitter, i) })
	})
	if err != nil {
		return nil, err
	}
	pool, err := kernels.Map("max_roi_pool", y.Type.Shape, func(e *kernels.Emitter, at []*kernel.Value, i *kernel.Value) {
		number := func(k int) *kernel.Value {
			return e.Read(rois).Get(e.Add(e.Mul(at[0], e.Int(5)), e.Int(k)))
		}
		// bin returns the elements of a bin along an axis, whose first and last coordinates are numbers
		// first and first + 2 of a region.
		bin := func(first, bins int, bin *kernel.Value, extent dim.Dim) (from, to *kernel.Value) {
			coordinate := func(k int) *kernel.Value {
				v := halfAway(e, e.Convert(ir.F64, e.Mul(number(k), e.Float(d, o.Scale))))
				return within(e, v, e.Float(ir.F64, -math.MaxInt32), e.Float(ir.F64, math.MaxInt32))
			}
			start, one := coordinate(first), e.Float(ir.F64, 1)
			length := e.Max(e.Add(e.Sub(coordinate(first+2), start), one), one)
			step := elementary.DivBy(e.Builder, e.Convert(d, length), float64(bins))
			edge := func(round kernel.Op, number *kernel.Value) *kernel.Value {
				v := e.Unary(round, e.Convert(ir.F64, e.Mul(e.Convert(d, number), step)))
				v = within(e, e.Add(v, start), e.Float(ir.F64, 0), e.Convert(ir.F64, e.Dim(extent)))
				return e.Convert(ir.I32, v)
			}
			return edge(kernel.Floor, bin), edge(kernel.Ceil, e.Add(bin, e.Int(1)))
		}
		top, bottom := bin(2, o.Height, at[2], shape[2])
		left, right := bin(1, o.Width, at[3], shape[3])
		plane := e.Add(e.Mul(place(e, image(e, at[0]), shape[0]), e.Dim(shape[1])), at[1])
		most := extreme(true, d, d)
		v := e.For(top, bottom, e.Int(1), most.start(e), func(row *kernel.Value, v []*kernel.Value) []*kernel.Value {
			first := e.Mul(e.Add(e.Mul(plane, e.Dim(shape[2])), row), e.Dim(shape[3]))
			return e.For(left, right, e.Int(1), v, func(column *kernel.Value, v []*kernel.Value) []*kernel.Value {
				return most.add(e, v, e.Read(x).Get(e.Add(first, column)))
			})
		})
		some := e.And(e.Lt(top, bottom), e.Lt(left, right))
		e.Write(y).Set(i, e.Select(some, v[0], e.Float(d, 0)))
	})
	return []kernels.Launch{check, pool}, err
}

// halfAway returns x rounded to the nearest integer. Halves are rounded away from 0.
func halfAway(e *kernels.Emitter, x *kernel.Value) *kernel.Value {
	d := x.Type.DType
	size := e.Abs(x)
	whole := e.Unary(kernel.Trunc, size)
	up := e.Ge(e.Sub(size, whole), e.Float(d, 0.5))
	rounded := e.Add(whole, e.Convert(d, up))
	return e.Select(e.Lt(x, e.Float(d, 0)), e.Neg(rounded), rounded)
}

// maxSampling is the largest [op.RoiAlign] Sampling that a kernel takes.
const maxSampling = 64

// roiAlign computes the mean or the maximum of samples in each bin of a region. There is a thread for each bin of each
// channel. Coordinates and sums have the same type.
func roiAlign(o op.RoiAlign, n *ir.Node) ([]kernels.Launch, error) {
	x, images, y := n.Args[0], n.Args[2], n.Results[0]
	d, ok := kernels.Arithmetic(x.Type.DType)
	switch {
	case !ok:
		return nil, errNarrow
	case o.Sampling > maxSampling:
		return nil, fmt.Errorf("%d samples along an axis, at most %d expected", o.Sampling, maxSampling)
	}
	shape := x.Type.Shape
	return one(kernels.Map("roi_align", y.Type.Shape, func(e *kernels.Emitter, at []*kernel.Value, i *kernel.Value) {
		r := roi{Emitter: e, RoiAlign: o, d: d, regions: n.Args[1], index: at[0]}
		down, across := r.axis(1, o.Height, at[2], shape[2]), r.axis(0, o.Width, at[3], shape[3])
		image := place(e, e.Read(images).Get(at[0]), shape[0])
		plane := e.Mul(e.Add(e.Mul(image, e.Dim(shape[1])), at[1]), e.Dim(dim.Product(shape[2:]...)))
		most := extreme(true, d, d)

		start := []*kernel.Value{e.Float(d, 0), e.Int(0)}
		if o.Mode == "max" {
			start = append(most.start(e), e.Int(0))
		}
		state := down.each(r, start, func(rows roiSample, state []*kernel.Value) []*kernel.Value {
			return across.each(r, state, func(columns roiSample, state []*kernel.Value) []*kernel.Value {
				var products []*kernel.Value
				for j := range 4 {
					row, column := j/2, j%2
					from := e.Add(plane, e.Add(e.Mul(rows.at[row], e.Dim(shape[3])), columns.at[column]))
					products = append(products, e.Mul(e.Mul(rows.weight[row], columns.weight[column]), e.Read(x).Get(from)))
				}
				seen := e.Add(state[1], e.Int(1))
				if o.Mode != "max" {
					sum := products[0]
					for _, p := range products[1:] {
						sum = e.Add(sum, p)
					}
					return []*kernel.Value{e.Add(state[0], sum), seen}
				}
				best := state[:1]
				for _, p := range products {
					best = most.add(e, best, p)
				}
				return []*kernel.Value{best[0], seen}
			})
		})

		v, zero := state[0], e.Float(d, 0)
		count := e.Mul(e.Convert(d, down.samples), e.Convert(d, across.samples))
		if o.Mode == "max" {
			outside := e.Lt(e.Convert(d, state[1]), count)
			v = e.Select(outside, most.add(e, []*kernel.Value{v}, zero)[0], v)
		} else {
			v = e.Div(v, count)
		}
		e.Write(y).Set(i, e.Select(e.Gt(count, zero), v, zero))
	}))
}

type roi struct {
	*kernels.Emitter
	op.RoiAlign
	d       ir.DType
	regions *ir.Value
	index   *kernel.Value
}

type roiAxis struct {
	begin, bin *kernel.Value // where the bin begins, and its extent
	samples    *kernel.Value // how many the bin has, an i32
	extent     dim.Dim       // of the images
}

// roiSample holds the two elements around a sample, and their weights.
type roiSample struct{ at, weight [2]*kernel.Value }

// axis returns where a bin lies along one axis of the images, and the number of its samples. r.index is the index of
// the bin's region. The region has `bins` bins along the axis, and `bin` is the index of this bin. extent is the extent
// of the images along the axis. A region has four coordinates: coordinate `first` is its start on the axis, and
// coordinate `first` + 2 is its end.
func (r roi) axis(first, bins int, bin *kernel.Value, extent dim.Dim) roiAxis {
	coordinate := func(k int) *kernel.Value {
		v := r.Mul(r.Read(r.regions).Get(r.Add(r.Mul(r.index, r.Int(4)), r.Int(k))), r.Float(r.d, r.Scale))
		if r.HalfPixel {
			v = r.Sub(v, r.Float(r.d, 0.5))
		}
		return v
	}
	start := coordinate(first)
	length := r.Sub(coordinate(first+2), start)
	if !r.HalfPixel {
		length = within(r.Emitter, length, r.Float(r.d, 1), infinity(r.Emitter, r.d))
	}
	a := roiAxis{bin: elementary.DivBy(r.Builder, length, float64(bins)), samples: r.Int(r.Sampling), extent: extent}
	a.begin = r.Add(start, r.Mul(r.Convert(r.d, bin), a.bin))
	if r.Sampling == 0 {
		count := r.Unary(kernel.Ceil, r.Convert(ir.F64, a.bin))
		a.samples = r.Convert(ir.I32, within(r.Emitter, count, r.Float(ir.F64, 0), r.Float(ir.F64, math.MaxInt32)))
	}
	return a
}

// each calls the function `step` for the samples of a bin, one after the other. It leaves out samples whose
// coordinate is not between −1 and the extent of the axis. It clamps the coordinates of the other samples to the
// first and the last element. It passes the state from call to call, and returns the last state.
func (a roiAxis) each(r roi, state []*kernel.Value, step func(s roiSample, state []*kernel.Value) []*kernel.Value) []*kernel.Value {
	from, to := a.inside(r)
	return r.For(from, to, r.Int(1), state, func(k *kernel.Value, state []*kernel.Value) []*kernel.Value {
		middle := r.Mul(r.Add(r.Convert(r.d, k), r.Float(r.d, 0.5)), a.bin)
		x := r.Add(a.begin, elementary.Quotient(r.Builder, middle, r.Convert(r.d, a.samples)))
		extent := r.Convert(r.d, r.Dim(a.extent))
		inside := r.And(r.Ge(x, r.Float(r.d, -1)), r.Le(x, extent))
		inside = r.And(inside, r.Gt(r.Dim(a.extent), r.Int(0)))
		return r.If(inside, func() []*kernel.Value {
			last := r.Dim(a.extent.Sub(dim.Const(1)))
			x := within(r.Emitter, x, r.Float(r.d, 0), r.Convert(r.d, last))
			first := r.Min(r.Convert(ir.I32, x), last)
			part := r.Sub(x, r.Convert(r.d, first))
			return step(roiSample{
				at:     [2]*kernel.Value{first, r.Min(r.Add(first, r.Int(1)), last)},
				weight: [2]*kernel.Value{r.Sub(r.Float(r.d, 1), part), part},
			}, state)
		}, func() []*kernel.Value { return state })
	})
}

// inside returns a range [from, to) of samples of a bin. It contains all samples whose coordinate is between −1 and
// the extent of the axis. If r.Sampling is 0, a bin may have very many samples. Even then the range has at most a few
// samples for each element of the axis.
func (a roiAxis) inside(r roi) (from, to *kernel.Value) {
	if r.Sampling > 0 {
		return r.Int(0), a.samples
	}
	wide := func(v *kernel.Value) *kernel.Value { return r.Convert(ir.F64, v) }
	begin, bin, most := wide(a.begin), wide(a.bin), wide(a.samples)
	// number returns the number of the sample at a coordinate.
	number := func(x *kernel.Value) *kernel.Value { return r.Mul(r.Div(r.Sub(x, begin), bin), most) }
	margin := r.Float(ir.F64, 2)
	first := within(r.Emitter, r.Sub(number(r.Float(ir.F64, -1)), margin), r.Float(ir.F64, 0), most)
	last := within(r.Emitter, r.Add(number(wide(r.Dim(a.extent))), margin), first, most)
	return r.Convert(ir.I32, first), r.Convert(ir.I32, last)
}

func infinity(e *kernels.Emitter, d ir.DType) *kernel.Value { return e.Float(d, math.Inf(1)) }
