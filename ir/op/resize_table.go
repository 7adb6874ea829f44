package op

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// ResizeTable returns a table for [Resize] along one axis, from In elements to Out points. The table holds the
// indices of the Taps elements that each point reads (i32), and their weights (f32). In mode nearest each point
// reads one element, and there are no weights. An optional operand of three f64 replaces Scale, Start and End. The
// other attributes are as in Resize.
type ResizeTable struct {
	Mode, Coordinates, Rounding string

	In, Out           dim.Dim
	Taps              dim.Dim
	Scale, Start, End float64
	CubicA            float64

	ExcludeOutside, AntiAlias bool
}

// ResizeTaps binds Symbol to the number of elements that each point of Table reads. It is needed if this number
// depends on values that are known only at run time. It ignores Table.Taps. It has the same optional operand as
// Table.
type ResizeTaps struct {
	Symbol string
	Table  ResizeTable
}

// ResizeOutside returns a bool for each point of Table: whether the point is outside of the operand of [Resize]. It
// has the same optional operand as Table.
type ResizeOutside struct{ Table ResizeTable }

// Infer returns i32[Out·Taps] and, except in mode nearest, f32[Out·Taps].
func (op ResizeTable) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := op.check(in); err != nil {
		return nil, err
	}
	n := op.Out.Mul(op.Taps)
	types := []ir.Type{ir.TensorOf(ir.I32, n), ir.TensorOf(ir.F32, n)}
	if op.Mode == "nearest" {
		types = types[:1]
	}
	return types, nil
}

func (op ResizeTable) check(in []ir.Type) error {
	if len(in) == 0 {
		return nil
	}
	if n, ok := in[0].Elems().Int(); len(in) > 1 || in[0].DType != ir.F64 || !ok || n != 3 {
		return fmt.Errorf("operands %v, three f64 expected", in)
	}
	return nil
}

// Infer returns no types, because there are no results.
func (op ResizeTaps) Infer(in []ir.Type) ([]ir.Type, error) { return nil, op.Table.check(in) }

// Infer returns bool[Table.Out].
func (op ResizeOutside) Infer(in []ir.Type) ([]ir.Type, error) {
	return []ir.Type{ir.TensorOf(ir.Bool, op.Table.Out)}, op.Table.check(in)
}

func (op ResizeTable) with(in []*ir.Tensor) ResizeTable {
	if len(in) > 0 {
		op.Scale, op.Start, op.End = in[0].Float(0), in[0].Float(1), in[0].Float(2)
	}
	return op
}

func (op ResizeTable) axis(in, out int) resizeAxis {
	a := resizeAxis{
		mode: op.Mode, coordinates: op.Coordinates, rounding: op.Rounding, in: in, out: out,
		scale: op.Scale, start: op.Start, end: op.End, cubicA: op.CubicA, exclude: op.ExcludeOutside, antiAlias: op.AntiAlias,
	}
	a.length = float64(a.scale * float64(in))
	if a.scale == 0 {
		a.scale, a.length = float64(out)/float64(in), float64(out)
	}
	return a
}

// extents returns the axis that the table describes. It returns an error if In or Out is symbolic, or if In is 0
// and Out is not.
func (op ResizeTable) extents() (resizeAxis, error) {
	in, ok := op.In.Int()
	out, okOut := op.Out.Int()
	if _, err := ir.CheckedLen([]int{in, out}); err != nil || !ok || !okOut || in == 0 && out > 0 {
		return resizeAxis{}, fmt.Errorf("from %s to %s elements", op.In, op.Out)
	}
	return op.axis(in, out), nil
}

// Eval returns the indices and, except in mode nearest, the weights. It returns an error if Taps differs from the
// number of elements that a point reads.
func (op ResizeTable) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	a, err := op.with(in).extents()
	if err != nil {
		return nil, err
	}
	taps, ok := op.Taps.Int()
	if _, err := ir.CheckedLen([]int{a.out, taps}); err != nil || !ok {
		return nil, fmt.Errorf("%s taps", op.Taps)
	}
	index := ir.NewTensor(ir.I32, a.out*taps)
	if op.Mode == "nearest" {
		for i := range a.out {
			index.SetInt(i, int64(a.nearest(i)))
		}
		return []*ir.Tensor{index}, nil
	}
	if a.out > 0 && a.width() != taps {
		return nil, fmt.Errorf("%d taps, %d expected", taps, a.width())
	}
	weights := ir.NewTensor(ir.F32, a.out*taps)
	for i := range a.out {
		elements, w := a.taps(i)
		for t := range w {
			index.SetInt(i*taps+t, int64(elements[t]))
			weights.SetFloat(i*taps+t, w[t])
		}
	}
	return []*ir.Tensor{index, weights}, nil
}

// Eval returns no results.
func (op ResizeTaps) Eval([]*ir.Tensor) ([]*ir.Tensor, error) { return nil, nil }

// HasEffect marks the operator as an [ir.Effect]. Its nodes have no results, but extents depend on the symbol that
// they bind.
func (op ResizeTaps) HasEffect() {}

// Binds returns Symbol, the symbol that the operator gives a value.
func (op ResizeTaps) Binds() []string { return []string{op.Symbol} }

// BindValues returns the number of elements that a point reads, or 2 if there are no points. It returns an error if
// this number exceeds maxTaps.
func (op ResizeTaps) BindValues(in, _ []*ir.Tensor) ([]int64, error) {
	a, err := op.Table.with(in).extents()
	if err != nil || a.out == 0 {
		return []int64{2}, err
	}
	if !(a.support() <= maxTaps/2) {
		return nil, fmt.Errorf("antialias from %d to %d elements", a.in, a.out)
	}
	return []int64{int64(a.width())}, nil
}

// Eval returns a bool for each point: whether its coordinate is outside the axis.
func (op ResizeOutside) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	a, err := op.Table.with(in).extents()
	if err != nil {
		return nil, err
	}
	y := ir.NewTensor(ir.Bool, a.out)
	for i := range a.out {
		y.SetBool(i, a.outside(i))
	}
	return []*ir.Tensor{y}, nil
}

// BindScaled binds one symbol to each product of an extent in From and a scale. Its operand is the list of f64
// scales. If Near is set, a product is computed in f64 and rounded to the nearest integer, ties up. Otherwise it is
// computed in f32 and rounded down.
type BindScaled struct {
	Bound
	From []dim.Dim
	Near bool
}

// Infer returns an error if the operand is not a list of f64, or if there is not one symbol for each extent in From.
// There are no results.
func (op BindScaled) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	if in[0].DType != ir.F64 || in[0].Rank() != 1 || len(op.Symbols) != len(op.From) {
		return nil, fmt.Errorf("%s for %d axes and %d symbols, a list of f64 expected", in[0], len(op.From), len(op.Symbols))
	}
	return nil, nil
}

// BindValues returns the rounded products of extents and scales. It returns an error if the number
// of scales is wrong, a scale is not positive, or a product exceeds 2³¹−1.
func (op BindScaled) BindValues(in, _ []*ir.Tensor) ([]int64, error) {
	from, _ := dim.Ints(op.From)
	if in[0].Len() != len(from) {
		return nil, fmt.Errorf("%d scales for %d axes", in[0].Len(), len(from))
	}
	return op.each(func(i int) (int64, error) {
		scale := in[0].Float(i)
		n := float64(float32(from[i]) * float32(scale))
		if op.Near {
			n = math.Floor(float64(scale*float64(from[i])) + 0.5)
		}
		if !(scale > 0) || !(n <= math.MaxInt32) {
			return 0, fmt.Errorf("%d elements by scale %g", from[i], scale)
		}
		return int64(n), nil
	})
}
