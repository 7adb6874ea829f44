package exec_test

import (
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

var reductionTrials = map[string]func(*draw) trial{
	"arg_max": along(numberTypes, func(d *draw, axis int) ir.Op {
		return op.ArgMax{Axis: axis, KeepDims: d.flag("keep"), Last: d.flag("last")}
	}),
	"arg_min": along(numberTypes, func(d *draw, axis int) ir.Op {
		return op.ArgMin{Axis: axis, KeepDims: d.flag("keep"), Last: d.flag("last")}
	}),
	"cum_prod": along(usualNumbers, func(d *draw, axis int) ir.Op {
		return op.CumProd{Axis: axis, Exclusive: d.flag("exclusive"), Reverse: d.flag("reverse")}
	}),
	"cum_sum": along(usualNumbers, func(d *draw, axis int) ir.Op {
		return op.CumSum{Axis: axis, Exclusive: d.flag("exclusive"), Reverse: d.flag("reverse")}
	}),
	"det":         tryDet,
	"dft":         tryDFT,
	"hardmax":     along(floatTypes, func(_ *draw, axis int) ir.Op { return op.Hardmax{Axis: axis} }),
	"inverse":     tryInverse,
	"log_softmax": along(floatTypes, func(_ *draw, axis int) ir.Op { return op.LogSoftmax{Axis: axis} }),
	"reduce":      tryReduce,
	"softmax":     along(floatTypes, func(d *draw, axis int) ir.Op { return op.Softmax{Axis: axis, Exact: d.flag("exact")} }),
}

// along tries an operator that works along one axis, which has elements.
func along(types []ir.DType, make func(d *draw, axis int) ir.Op) func(*draw) trial {
	return func(d *draw) trial {
		shape := d.shape(1, 4)
		axis := d.int(0, len(shape)-1, "axis")
		shape[axis] = max(shape[axis], 1)
		return trial{op: make(d, axis), args: []*ir.Tensor{d.any(d.dtype(types), shape...)}, sums: true}
	}
}

var reductions = []op.Reduction{
	op.ReduceL1, op.ReduceL2, op.ReduceLogSum, op.ReduceLogSumExp, op.ReduceMax, op.ReduceMean, op.ReduceMin, op.ReduceProd, op.ReduceSum, op.ReduceSumSquare,
}

func tryReduce(d *draw) trial {
	shape := d.shape(0, 5)
	o := op.Reduce{Kind: pick(d, reductions...), KeepDims: d.flag("keep")}
	for i := range shape {
		if d.flag("reduced") {
			o.Axes = append(o.Axes, i)
		}
	}
	types := usualNumbers
	switch o.Kind {
	case op.ReduceMax, op.ReduceMin:
		types = append(slices.Clone(numberTypes), ir.Bool)
	case op.ReduceProd:
		return trial{op: o, args: []*ir.Tensor{d.odd(d.scaled(0.25, d.dtype(types), shape...))}, loose: 10}
	case op.ReduceLogSum, op.ReduceLogSumExp, op.ReduceL2:
		types = usualFloats // what is truncated to an integer may be next to it
	}
	return trial{op: o, args: []*ir.Tensor{d.any(d.dtype(types), shape...)}, sums: true, loose: 10}
}

// matrices draws square matrices whose diagonals are large.
func (d *draw) matrices() *ir.Tensor {
	shape := d.shape(0, 2)
	n := d.int(0, 5, "rows")
	x := d.scaled(0.25, d.dtype(usualFloats), append(shape, n, n)...)
	for i := range x.Len() {
		if i%(n*n)%(n+1) == 0 {
			x.SetFloat(i, x.Float(i)+4)
		}
	}
	return x
}

func tryDet(d *draw) trial {
	return trial{op: op.Det{}, args: []*ir.Tensor{d.matrices()}, sums: true}
}

func tryInverse(d *draw) trial {
	return trial{op: op.Inverse{}, args: []*ir.Tensor{d.matrices()}, sums: true, loose: 10}
}

func tryDFT(d *draw) trial {
	shape := d.full(1, 3)
	o := op.DFT{Axis: d.int(0, len(shape)-1, "axis"), Inverse: d.flag("inverse"), OneSided: d.flag("one-sided")}
	length := shape[o.Axis]
	if d.flag("length") {
		length = max(d.extent(), 1)
	}
	o.Length = d.dim(length)
	parts := d.int(1, 2, "parts")
	if o.OneSided {
		parts = map[bool]int{false: 1, true: 2}[o.Inverse]
	}
	return trial{op: o, args: []*ir.Tensor{d.tensor(d.dtype(usualFloats), append(shape, parts)...)}, sums: true}
}
