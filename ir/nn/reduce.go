package nn

import (
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// reduce reduces along axes, whose extents become 1, or along all to a scalar.
func (v Value) reduce(kind op.Reduction, axes []int) Value {
	return one(op.Reduce{Kind: kind, Axes: v.axes(axes), KeepDims: len(axes) > 0}, v)
}

// Sum adds up along axes, whose extents become 1; without axes it gives a scalar.
func (v Value) Sum(axes ...int) Value { return v.reduce(op.ReduceSum, axes) }

// Mean is the mean along axes, whose extents become 1; without axes a scalar.
func (v Value) Mean(axes ...int) Value { return v.reduce(op.ReduceMean, axes) }

// Prod is the product along axes, whose extents become 1; without axes a scalar.
func (v Value) Prod(axes ...int) Value { return v.reduce(op.ReduceProd, axes) }

// Max is the greatest element along axes, whose extents become 1; without axes a
// scalar.
func (v Value) Max(axes ...int) Value { return v.reduce(op.ReduceMax, axes) }

// Min is the least element along axes, whose extents become 1; without axes a scalar.
func (v Value) Min(axes ...int) Value { return v.reduce(op.ReduceMin, axes) }

// MaxAbs is the greatest magnitude along axes, whose extents become 1; without axes a
// scalar.
func (v Value) MaxAbs(axes ...int) Value { return v.Abs().Max(axes...) }

// LogSumExp is log Σe^v along axes, whose extents become 1; without axes a scalar.
func (v Value) LogSumExp(axes ...int) Value { return v.reduce(op.ReduceLogSumExp, axes) }

// All tells whether all elements along axes are true, or all; anything but zero is
// true.
func (v Value) All(axes ...int) Value { return v.Bool().reduce(op.ReduceMin, axes) }

// Any tells whether an element along axes is true, or any; anything but zero is true.
func (v Value) Any(axes ...int) Value { return v.Bool().reduce(op.ReduceMax, axes) }

// count returns the number of elements along axes, or of all.
func (v Value) count(axes []int) Dim {
	n := ir.Const(1)
	for _, i := range v.axes(axes) {
		n = n.Mul(v.typ().Shape[i])
	}
	return Dim{d: n}
}

// Var is the variance along axes, whose extents become 1, or of all: the sum of squared
// distances from the mean, divided by one less than their number.
func (v Value) Var(axes ...int) Value { _, x := v.VarMean(axes...); return x }

// VarBiased is [Value.Var] divided by the number of elements.
func (v Value) VarBiased(axes ...int) Value { _, x := v.VarMeanBiased(axes...); return x }

// Std is the standard deviation, the root of [Value.Var].
func (v Value) Std(axes ...int) Value { return v.Var(axes...).Sqrt() }

// VarMean returns the mean and the variance, see [Value.Var].
func (v Value) VarMean(axes ...int) (mean, variance Value) {
	mean = v.Mean(axes...)
	return mean, v.Sub(mean).Square().Sum(axes...).Div(v.count(axes).Sub(1))
}

// VarMeanBiased returns the mean and the variance, see [Value.VarBiased].
func (v Value) VarMeanBiased(axes ...int) (mean, variance Value) {
	mean = v.Mean(axes...)
	return mean, v.Sub(mean).Square().Mean(axes...)
}

// ArgMax is where the greatest element along an axis is, the first of equals: i64, with
// the axis of extent 1.
func (v Value) ArgMax(axis int) Value { return one(op.ArgMax{Axis: v.axis(axis), KeepDims: true}, v) }

// ArgMin is where the least element along an axis is, the first of equals: i64, with
// the axis of extent 1.
func (v Value) ArgMin(axis int) Value { return one(op.ArgMin{Axis: v.axis(axis), KeepDims: true}, v) }

// MaxWithIndices returns the greatest elements along an axis, and where they are.
func (v Value) MaxWithIndices(axis int) (values, indices Value) {
	return v.Max(axis), v.ArgMax(axis)
}

// MinWithIndices returns the least elements along an axis, and where they are.
func (v Value) MinWithIndices(axis int) (values, indices Value) {
	return v.Min(axis), v.ArgMin(axis)
}

// CumSum is the running sum along an axis.
func (v Value) CumSum(axis int) Value { return one(op.CumSum{Axis: v.axis(axis)}, v) }

// CumProd is the running product along an axis.
func (v Value) CumProd(axis int) Value { return one(op.CumProd{Axis: v.axis(axis)}, v) }

// CumMax is the greatest element so far along an axis, whose extent is a number.
func (v Value) CumMax(axis int) Value { return v.running(axis, Value.Maximum) }

// CumMin is the least element so far along an axis, whose extent is a number.
func (v Value) CumMin(axis int) Value { return v.running(axis, Value.Minimum) }

// running combines each element with those before it, in steps of 1, 2, 4, ….
func (v Value) running(axis int, combine func(Value, Operand) Value) Value {
	axis = v.axis(axis)
	n := v.Dim(axis).Int()
	for step := 1; step < n; step *= 2 {
		head := v.Narrow(axis, 0, step)
		v = Concat(axis, head, combine(v.Narrow(axis, step, n-step), v.Narrow(axis, 0, n-step)))
	}
	return v
}

// Median is the middle of the elements along an axis, the lower one of two, with the
// axis of extent 1.
func (v Value) Median(axis int) Value { m, _ := v.MedianWithIndices(axis); return m }

// MedianWithIndices is [Value.Median], and where the elements are.
func (v Value) MedianWithIndices(axis int) (values, indices Value) {
	axis = v.axis(axis)
	values, indices = v.SortWithIndices(axis)
	middle := v.Dim(axis).Sub(1).Div(2)
	return values.Narrow(axis, middle, 1), indices.Narrow(axis, middle, 1)
}

// order sorts along an axis.
func (v Value) order(axis int, k Extent, smallest bool) (values, indices Value) {
	axis = v.axis(axis)
	out := many(op.TopK{Axis: axis, K: extent(k), Smallest: smallest}, v)
	return out[0], out[1]
}

// Sort returns the elements along an axis in ascending order.
func (v Value) Sort(axis int) Value { s, _ := v.SortWithIndices(axis); return s }

// SortWithIndices returns the elements along an axis in ascending order, and where
// they were.
func (v Value) SortWithIndices(axis int) (values, indices Value) {
	return v.order(axis, v.Dim(axis), true)
}

// SortDescending returns the elements along an axis in descending order.
func (v Value) SortDescending(axis int) Value { s, _ := v.SortDescendingWithIndices(axis); return s }

// SortDescendingWithIndices returns the elements along an axis in descending order, and
// where they were.
func (v Value) SortDescendingWithIndices(axis int) (values, indices Value) {
	return v.order(axis, v.Dim(axis), false)
}

// ArgSort returns where the elements along an axis are in ascending order.
func (v Value) ArgSort(axis int) Value { _, i := v.SortWithIndices(axis); return i }

// ArgSortDescending returns where the elements along an axis are in descending order.
func (v Value) ArgSortDescending(axis int) Value {
	_, i := v.SortDescendingWithIndices(axis)
	return i
}

// TopK returns the k greatest elements along an axis, the greatest first.
func (v Value) TopK(k Extent, axis int) Value { t, _ := v.TopKWithIndices(k, axis); return t }

// TopKWithIndices returns the k greatest elements along an axis, and where they are.
func (v Value) TopKWithIndices(k Extent, axis int) (values, indices Value) {
	return v.order(axis, k, false)
}

// ArgTopK returns where the k greatest elements along an axis are.
func (v Value) ArgTopK(k Extent, axis int) Value { _, i := v.TopKWithIndices(k, axis); return i }

// squeezed reduces and drops the axes.
func (v Value) squeezed(of func(Value, ...int) Value, axes []int) Value {
	return of(v, axes...).Squeeze(v.axes(axes)...)
}

// SumSqueezed is [Value.Sum] along axes that the result does not have.
func (v Value) SumSqueezed(axes ...int) Value { return v.squeezed(Value.Sum, slices.Clone(axes)) }

// MeanSqueezed is [Value.Mean] along axes that the result does not have.
func (v Value) MeanSqueezed(axes ...int) Value { return v.squeezed(Value.Mean, slices.Clone(axes)) }
