package nn

import (
	"slices"

	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// reduce reduces along axes, whose extents become 1. If axes is empty, it reduces v to a scalar.
func (v Value) reduce(kind op.Reduction, axes []int) Value {
	return one(op.Reduce{Kind: kind, Axes: v.axes(axes), KeepDims: len(axes) > 0}, v)
}

// Sum returns the sum along axes, whose extents become 1. Without axes it returns a scalar.
func (v Value) Sum(axes ...int) Value { return v.reduce(op.ReduceSum, axes) }

// Mean returns the mean along axes, whose extents become 1. Without axes it returns a scalar.
func (v Value) Mean(axes ...int) Value { return v.reduce(op.ReduceMean, axes) }

// Prod returns the product along axes, whose extents become 1. Without axes it returns a scalar.
func (v Value) Prod(axes ...int) Value { return v.reduce(op.ReduceProd, axes) }

// Max returns the maximum along axes, whose extents become 1. Without axes it returns a scalar. The maximum is NaN if
// an element is NaN, and −∞ or the smallest integer if there are no elements.
func (v Value) Max(axes ...int) Value { return v.reduce(op.ReduceMax, axes) }

// Min returns the minimum along axes, whose extents become 1. Without axes it returns a scalar. The minimum is NaN if
// an element is NaN, and +∞ or the largest integer if there are no elements.
func (v Value) Min(axes ...int) Value { return v.reduce(op.ReduceMin, axes) }

// MaxAbs returns the largest magnitude along axes, whose extents become 1. Without axes it returns
// a scalar.
func (v Value) MaxAbs(axes ...int) Value { return v.Abs().Max(axes...) }

// LogSumExp returns log Σe^v along axes, whose extents become 1. Without axes it returns a scalar.
func (v Value) LogSumExp(axes ...int) Value { return v.reduce(op.ReduceLogSumExp, axes) }

// All returns true where no element along axes is 0, and false elsewhere. Without axes it returns a scalar.
func (v Value) All(axes ...int) Value { return v.Bool().reduce(op.ReduceMin, axes) }

// Any returns true where at least one element along axes is not 0. Without axes it returns a scalar.
func (v Value) Any(axes ...int) Value { return v.Bool().reduce(op.ReduceMax, axes) }

func (v Value) count(axes []int) Dim {
	n := dim.Const(1)
	for _, i := range v.axes(axes) {
		n = n.Mul(v.typ().Shape[i])
	}
	return Dim{d: n}
}

// Var returns the variance along axes, whose extents become 1. Without axes it returns the variance of all elements,
// a scalar. For n elements it divides the sum of squared deviations by n − 1, so it is NaN for one element.
func (v Value) Var(axes ...int) Value { _, x := v.VarMean(axes...); return x }

// VarBiased is like [Value.Var] but divides by the number of elements.
func (v Value) VarBiased(axes ...int) Value { _, x := v.VarMeanBiased(axes...); return x }

// Std returns the standard deviation: the square root of [Value.Var].
func (v Value) Std(axes ...int) Value { return v.Var(axes...).Sqrt() }

// VarMean returns the mean and the variance; see [Value.Var].
func (v Value) VarMean(axes ...int) (mean, variance Value) {
	mean = v.Mean(axes...)
	return mean, v.Sub(mean).Square().Sum(axes...).Div(v.count(axes).Sub(1))
}

// VarMeanBiased returns the mean and the variance; see [Value.VarBiased].
func (v Value) VarMeanBiased(axes ...int) (mean, variance Value) {
	mean = v.Mean(axes...)
	return mean, v.Sub(mean).Square().Mean(axes...)
}

// ArgMax returns the index of the first maximum along an axis, as i64. The extent of the axis becomes 1. NaN is
// larger than every number.
func (v Value) ArgMax(axis int) Value { return one(op.ArgMax{Axis: v.axis(axis), KeepDims: true}, v) }

// ArgMin returns the index of the first minimum along an axis, as i64. The extent of the axis becomes 1. NaN is
// smaller than every number.
func (v Value) ArgMin(axis int) Value { return one(op.ArgMin{Axis: v.axis(axis), KeepDims: true}, v) }

// MaxWithIndices returns the maxima along an axis and their indices, like [Value.Max] and [Value.ArgMax]. The
// extent of the axis becomes 1.
func (v Value) MaxWithIndices(axis int) (values, indices Value) {
	return v.Max(axis), v.ArgMax(axis)
}

// MinWithIndices returns the minima along an axis and their indices, like [Value.Min] and [Value.ArgMin]. The
// extent of the axis becomes 1.
func (v Value) MinWithIndices(axis int) (values, indices Value) {
	return v.Min(axis), v.ArgMin(axis)
}

// CumSum returns the cumulative sum along an axis.
func (v Value) CumSum(axis int) Value { return one(op.CumSum{Axis: v.axis(axis)}, v) }

// CumProd returns the cumulative product along an axis.
func (v Value) CumProd(axis int) Value { return one(op.CumProd{Axis: v.axis(axis)}, v) }

// CumMax returns the cumulative maximum along an axis. The extent of the axis must be static.
func (v Value) CumMax(axis int) Value { return v.running(axis, Value.Maximum) }

// CumMin returns the cumulative minimum along an axis. The extent of the axis must be static.
func (v Value) CumMin(axis int) Value { return v.running(axis, Value.Minimum) }

// running replaces each element by the combination of this element and all elements before it along an axis. combine
// combines two Values element by element, such as by a maximum. It must be associative and commutative. running
// takes ⌈log₂ n⌉ steps for an extent of n.
func (v Value) running(axis int, combine func(Value, Operand) Value) Value {
	axis = v.axis(axis)
	n := v.Dim(axis).Int()
	for step := 1; step < n; step *= 2 {
		head := v.Narrow(axis, 0, step)
		v = Concat(axis, head, combine(v.Narrow(axis, step, n-step), v.Narrow(axis, 0, n-step)))
	}
	return v
}

// Median returns the median along an axis, whose extent becomes 1. For an even number of elements it is the lower
// of the two middle ones. NaN is larger than every number.
func (v Value) Median(axis int) Value { m, _ := v.MedianWithIndices(axis); return m }

// MedianWithIndices returns what [Value.Median] returns, and the index, i64, that each median has along the axis.
func (v Value) MedianWithIndices(axis int) (values, indices Value) {
	axis = v.axis(axis)
	values, indices = v.SortWithIndices(axis)
	middle := v.Dim(axis).Sub(1).Div(2)
	return values.Narrow(axis, middle, 1), indices.Narrow(axis, middle, 1)
}

// order returns the k largest elements along an axis and their indices. The largest comes first. If smallest is
// true, order returns the k smallest elements, and the smallest comes first.
func (v Value) order(axis int, k Extent, smallest bool) (values, indices Value) {
	axis = v.axis(axis)
	out := many(op.TopK{Axis: axis, K: extent(k), Smallest: smallest}, v)
	return out[0], out[1]
}

// Sort returns the elements along an axis in ascending order. NaN is larger than every number.
func (v Value) Sort(axis int) Value { s, _ := v.SortWithIndices(axis); return s }

// SortWithIndices returns the elements along an axis in ascending order. It also returns the index, i64, that each
// element had in v. Equal elements keep their order. NaN is larger than every number.
func (v Value) SortWithIndices(axis int) (values, indices Value) {
	return v.order(axis, v.Dim(axis), true)
}

// SortDescending returns the elements along an axis in descending order. NaN is larger than every number.
func (v Value) SortDescending(axis int) Value { s, _ := v.SortDescendingWithIndices(axis); return s }

// SortDescendingWithIndices returns the elements along an axis in descending order. It also returns the index, i64,
// that each element had in v. Equal elements keep their order. NaN is larger than every number.
func (v Value) SortDescendingWithIndices(axis int) (values, indices Value) {
	return v.order(axis, v.Dim(axis), false)
}

// ArgSort returns the indices that sort the elements along an axis in ascending order; see [Value.SortWithIndices].
func (v Value) ArgSort(axis int) Value { _, i := v.SortWithIndices(axis); return i }

// ArgSortDescending returns the indices that sort the elements along an axis in descending order; see
// [Value.SortDescendingWithIndices].
func (v Value) ArgSortDescending(axis int) Value {
	_, i := v.SortDescendingWithIndices(axis)
	return i
}

// TopK returns the k largest elements along an axis, the largest first; see [Value.TopKWithIndices].
func (v Value) TopK(k Extent, axis int) Value { t, _ := v.TopKWithIndices(k, axis); return t }

// TopKWithIndices returns the k largest elements along an axis, the largest first, and their indices, i64. Equal
// elements keep their order. NaN is larger than every number. k must not exceed the extent.
func (v Value) TopKWithIndices(k Extent, axis int) (values, indices Value) {
	return v.order(axis, k, false)
}

// ArgTopK returns the indices of the k largest elements along an axis, the largest first; see [Value.TopKWithIndices].
func (v Value) ArgTopK(k Extent, axis int) Value { _, i := v.TopKWithIndices(k, axis); return i }

func (v Value) squeezed(reduce func(Value, ...int) Value, axes []int) Value {
	return reduce(v, axes...).Squeeze(v.axes(axes)...)
}

// SumSqueezed is like [Value.Sum] but removes the axes.
func (v Value) SumSqueezed(axes ...int) Value { return v.squeezed(Value.Sum, slices.Clone(axes)) }

// MeanSqueezed is like [Value.Mean] but removes the axes.
func (v Value) MeanSqueezed(axes ...int) Value { return v.squeezed(Value.Mean, slices.Clone(axes)) }
