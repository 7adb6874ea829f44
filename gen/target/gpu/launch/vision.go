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

var vision = []entry{
	computes(gridSample),
}

// maxGridTaps is the largest number of elements that a thread of gridSample or deformColumns reads. The host computes
// nodes that need more.
const maxGridTaps = 64

// gridSample samples an image at the points of a grid. There is a thread for each element of the result. It computes
// coordinates in f64.
func gridSample(o op.GridSample, n *ir.Node) ([]kernels.Launch, error) {
	x, grid, y := n.Args[0], n.Args[1], n.Results[0]
	spatial := x.Type.Shape[2:]
	each := map[string]int{"nearest": 1, "linear": 2, "cubic": 4}[o.Mode]
	if math.Pow(float64(each), float64(len(spatial))) > maxGridTaps {
		return nil, fmt.Errorf("more than %d elements for a place", maxGridTaps)
	}
	d, ok := kernels.Arithmetic(x.Type.DType)
	switch {
	case x.Type.DType == ir.String:
		return nil, errText
	case grid.Type.DType != ir.F32 && grid.Type.DType != ir.F64, o.Mode != "nearest" && (!ok || !d.IsFloat()):
		return nil, errNarrow
	}
	return one(kernels.Map("grid_sample", y.Type.Shape, func(e *kernels.Emitter, at []*kernel.Value, i *kernel.Value) {
		s := sampler{Emitter: e, GridSample: o}
		axes := make([][]sample, len(spatial))
		for k, extent := range spatial {
			number := append([]*kernel.Value{at[0]}, at[2:]...)
			number = append(number, e.Int(len(spatial)-1-k)) // the last axis comes first
			axes[k] = s.samples(e.Read(grid).At(number...), extent)
		}
		if o.Mode == "nearest" {
			cells, inside := []*kernel.Value{at[0], at[1]}, e.Bool(true)
			for _, a := range axes {
				cells, inside = append(cells, a[0].at), e.And(inside, a[0].inside)
			}
			v := e.If(inside, func() []*kernel.Value {
				in := e.Read(x)
				return []*kernel.Value{in.Raw(in.Offset(cells))}
			}, func() []*kernel.Value { return []*kernel.Value{e.Convert(kernels.Memory(x.Type.DType), e.Int(0))} })
			e.Write(y).SetRaw(i, v[0])
			return
		}
		sum := e.Float(ir.F64, 0)
		each := func(cells []*kernel.Value, inside, weight *kernel.Value) {
			v := e.If(inside, func() []*kernel.Value {
				return []*kernel.Value{e.Convert(ir.F64, e.Read(x).At(append([]*kernel.Value{at[0], at[1]}, cells...)...))}
			}, func() []*kernel.Value { return []*kernel.Value{e.Float(ir.F64, 0)} })
			sum = e.Add(sum, e.Select(inside, e.Mul(weight, v[0]), e.Float(ir.F64, 0)))
		}
		corners(e, axes, nil, e.Bool(true), e.Float(ir.F64, 1), each)
		e.Write(y).Set(i, sum)
	}))
}

// sample is an index on an axis, whether the operand has this index, and its weight.
type sample struct{ at, inside, weight *kernel.Value }

type sampler struct {
	*kernels.Emitter
	op.GridSample
}

// corners calls the function `visit` for every combination of samples, one sample from each element of axes. visit
// gets the indices of the samples, whether all of them are inside, and the product of their weights. cells, inside
// and weight hold these values for the samples that have been chosen so far.
func corners(e *kernels.Emitter, axes [][]sample, cells []*kernel.Value, inside, weight *kernel.Value, visit func(cells []*kernel.Value, inside, weight *kernel.Value)) {
	if len(axes) == 0 {
		visit(cells, inside, weight)
		return
	}
	for _, a := range axes[0] {
		corners(e, axes[1:], append(cells[:len(cells):len(cells)], a.at), e.And(inside, a.inside), e.Mul(weight, a.weight), visit)
	}
}

// samples returns the elements that a point reads on an axis of extent d. The axis ranges from −1 to 1. With
// AlignCorners, −1 and 1 are the centres of the first and the last element. Otherwise they are the outer edges of
// these elements.
func (s sampler) samples(coordinate *kernel.Value, d dim.Dim) []sample {
	t := coordinate.Type.DType
	x, half, extent := s.Add(coordinate, s.Float(t, 1)), s.Float(t, 0.5), s.Convert(t, s.Dim(d))
	if s.AlignCorners {
		x = s.Mul(s.Mul(x, half), s.Convert(t, s.Dim(d.Sub(dim.Const(1)))))
	} else {
		x = s.Mul(s.Sub(s.Mul(x, extent), s.Float(t, 1)), half)
	}
	x = s.Convert(ir.F64, x)
	one, count := s.num(1), s.Convert(ir.F64, s.Dim(d))
	at := func(place, weight *kernel.Value) sample {
		inside := s.And(s.Ge(place, s.num(0)), s.Lt(place, count))
		return sample{s.Convert(ir.I32, place), inside, weight}
	}
	switch s.Mode {
	case "nearest":
		return []sample{at(s.Unary(kernel.Round, s.padded(x, d)), one)}
	case "linear":
		x = s.padded(x, d)
		first := s.Unary(kernel.Floor, x)
		next := s.Add(first, one)
		return []sample{at(first, s.Sub(next, x)), at(next, s.Sub(x, first))}
	}
	if s.Padding == "reflection" {
		x = s.mirrored(x, d)
	}
	x = within(s.Emitter, x, s.num(-4), s.Add(count, s.num(3)))
	first := s.Sub(s.Unary(kernel.Floor, x), one)
	var out []sample
	for k := range 4 {
		place := s.Add(first, s.num(float64(k)))
		out = append(out, at(s.padded(place, d), s.cubic(s.Abs(s.Sub(place, x)))))
	}
	return out
}

func (s sampler) num(x float64) *kernel.Value { return s.Float(ir.F64, x) }

// within returns x clamped to [low, high], or low for NaN.
func within(e *kernels.Emitter, x, low, high *kernel.Value) *kernel.Value {
	return e.Select(e.Gt(x, low), e.Min(x, high), low)
}

func (s sampler) padded(x *kernel.Value, d dim.Dim) *kernel.Value {
	switch s.Padding {
	case "border":
	case "reflection":
		x = s.mirrored(x, d)
	default:
		return x
	}
	return within(s.Emitter, x, s.num(0), s.Convert(ir.F64, s.Dim(d.Sub(dim.Const(1)))))
}

// mirrored reflects x at the ends of an axis of extent d until x lies between them. With AlignCorners, the ends are
// the centres of the first and the last element. Otherwise they are the outer edges of these elements.
func (s sampler) mirrored(x *kernel.Value, d dim.Dim) *kernel.Value {
	low, length := -0.5, s.Convert(ir.F64, s.Dim(d))
	if s.AlignCorners {
		low, length = 0, s.Convert(ir.F64, s.Dim(d.Sub(dim.Const(1))))
	}
	both := s.Add(length, length)
	m := elementary.Mod(s.Builder, s.Abs(s.Sub(x, s.num(low))), both)
	m = s.Add(s.Min(m, s.Sub(both, m)), s.num(low))
	return s.Select(s.Gt(length, s.num(0)), m, s.num(0))
}

func (s sampler) cubic(d *kernel.Value) *kernel.Value {
	const a = -0.75
	polynomial := func(terms ...float64) *kernel.Value {
		y := s.num(terms[0])
		for _, t := range terms[1:] {
			y = s.Fma(y, d, s.num(t))
		}
		return y
	}
	near, far := polynomial(a+2, -(a+3), 0, 1), polynomial(a, -5*a, 8*a, -4*a)
	return s.Select(s.Le(d, s.num(1)), near, s.Select(s.Lt(d, s.num(2)), far, s.num(0)))
}
