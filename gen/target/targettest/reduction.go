package targettest

import (
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

var reductionTrials = Trials{
	"arg_max": along(numberTypes, func(d *Draw, axis int) ir.Op {
		return op.ArgMax{Axis: axis, KeepDims: d.Flag("keep"), Last: d.Flag("last")}
	}),
	"arg_min": along(numberTypes, func(d *Draw, axis int) ir.Op {
		return op.ArgMin{Axis: axis, KeepDims: d.Flag("keep"), Last: d.Flag("last")}
	}),
	"cum_prod": along(usualNumbers, func(d *Draw, axis int) ir.Op {
		return op.CumProd{Axis: axis, Exclusive: d.Flag("exclusive"), Reverse: d.Flag("reverse")}
	}),
	"cum_sum": along(usualNumbers, func(d *Draw, axis int) ir.Op {
		return op.CumSum{Axis: axis, Exclusive: d.Flag("exclusive"), Reverse: d.Flag("reverse")}
	}),
	"det":         tryDet,
	"dft":         tryDFT,
	"hardmax":     along(floatTypes, func(_ *Draw, axis int) ir.Op { return op.Hardmax{Axis: axis} }),
	"inverse":     tryInverse,
	"log_softmax": along(floatTypes, func(_ *Draw, axis int) ir.Op { return op.LogSoftmax{Axis: axis} }),
	"reduce":      tryReduce,
	"softmax":     along(floatTypes, func(d *Draw, axis int) ir.Op { return op.Softmax{Axis: axis, Exact: d.Flag("exact")} }),
}

// along returns a function that draws trials of operators along one axis that is not empty. The function newOp
// draws the operator. The operand has one of the types in `types`.
func along(types []ir.DType, newOp func(d *Draw, axis int) ir.Op) func(*Draw) Trial {
	return func(d *Draw) Trial {
		shape := d.Shape(1, 4)
		axis := d.Int(0, len(shape)-1, "axis")
		shape[axis] = max(shape[axis], 1)
		return Trial{Op: newOp(d, axis), Args: []*ir.Tensor{d.Any(d.DType(types), shape...)}, Sums: true}
	}
}

var reductions = []op.Reduction{
	op.ReduceL1, op.ReduceL2, op.ReduceLogSum, op.ReduceLogSumExp, op.ReduceMax, op.ReduceMean, op.ReduceMin, op.ReduceProd, op.ReduceSum, op.ReduceSumSquare,
}

func tryReduce(d *Draw) Trial {
	shape := d.Shape(0, 5)
	o := op.Reduce{Kind: Pick(d, reductions...), KeepDims: d.Flag("keep")}
	for i := range shape {
		if d.Flag("reduced") {
			o.Axes = append(o.Axes, i)
		}
	}
	types := usualNumbers
	switch o.Kind {
	case op.ReduceMax, op.ReduceMin:
		types = append(slices.Clone(numberTypes), ir.Bool)
	case op.ReduceProd:
		return Trial{Op: o, Args: []*ir.Tensor{d.odd(d.Scaled(0.25, d.DType(types), shape...))}, Loose: 10}
	case op.ReduceLogSum, op.ReduceLogSumExp, op.ReduceL2:
		types = usualFloats // an integer that is a truncated float may be off by one
	}
	return Trial{Op: o, Args: []*ir.Tensor{d.Any(d.DType(types), shape...)}, Sums: true, Loose: 10}
}

// matrices draws square matrices with large diagonals.
func (d *Draw) matrices() *ir.Tensor {
	shape := d.Shape(0, 2)
	n := d.Int(0, 5, "rows")
	x := d.Scaled(0.25, d.DType(usualFloats), append(shape, n, n)...)
	for i := range x.Len() {
		if i%(n*n)%(n+1) == 0 {
			x.SetFloat(i, x.Float(i)+4)
		}
	}
	return x
}

func tryDet(d *Draw) Trial {
	return Trial{Op: op.Det{}, Args: []*ir.Tensor{d.matrices()}, Sums: true}
}

func tryInverse(d *Draw) Trial {
	return Trial{Op: op.Inverse{}, Args: []*ir.Tensor{d.matrices()}, Sums: true, Loose: 10}
}

func tryDFT(d *Draw) Trial {
	shape := d.Full(1, 3)
	o := op.DFT{Axis: d.Int(0, len(shape)-1, "axis"), Inverse: d.Flag("inverse"), OneSided: d.Flag("one-sided")}
	length := shape[o.Axis]
	if d.Flag("length") {
		length = max(d.Extent(), 1)
	}
	o.Length = d.Dim(length)
	parts := d.Int(1, 2, "parts")
	if o.OneSided {
		parts = map[bool]int{false: 1, true: 2}[o.Inverse]
	}
	return Trial{Op: o, Args: []*ir.Tensor{d.Tensor(d.DType(usualFloats), append(shape, parts)...)}, Sums: true}
}
