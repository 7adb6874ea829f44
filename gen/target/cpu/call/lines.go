package call

import (
	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

var lines = []entry{
	computes(func(o op.ArgMax, n node) kernel.Call {
		outer, count, inner := around(n.shape(0), o.Axis)
		return kernel.ArgMax(n.out(0), n.in(0), outer, count, inner, o.Last)
	}),
	computes(func(o op.ArgMin, n node) kernel.Call {
		outer, count, inner := around(n.shape(0), o.Axis)
		return kernel.ArgMin(n.out(0), n.in(0), outer, count, inner, o.Last)
	}),
	computes(func(o op.CumProd, n node) kernel.Call {
		outer, count, inner := around(n.shape(0), o.Axis)
		return kernel.CumProd(n.out(0), n.in(0), outer, count, inner, o.Exclusive, o.Reverse)
	}),
	computes(func(o op.CumSum, n node) kernel.Call {
		outer, count, inner := around(n.shape(0), o.Axis)
		return kernel.CumSum(n.out(0), n.in(0), outer, count, inner, o.Exclusive, o.Reverse)
	}),
	computes(func(o op.LogSoftmax, n node) kernel.Call {
		outer, count, inner := around(n.shape(0), o.Axis)
		return kernel.LogSoftmax(n.out(0), n.in(0), outer, count, inner)
	}),
	computes(reduce),
	computes(softmax),
	computes(func(o op.TopK, n node) kernel.Call {
		return kernel.TopK(n.out(0), n.out(1), n.in(0), n.shape(0)[o.Axis], o.K, o.Smallest)
	}),
}

// around multiplies extents of shape: n is the product over axes, outer over the axes before them, and inner over the
// axes after them. axes must be adjacent and ascend. If axes is empty, outer and n are 1.
func around(shape []dim.Dim, axes ...int) (outer, n, inner dim.Dim) {
	first, last := 0, 0
	if len(axes) > 0 {
		first, last = axes[0], axes[len(axes)-1]+1
	}
	return dim.Product(shape[:first]...), dim.Product(shape[first:last]...), dim.Product(shape[last:]...)
}

func softmax(o op.Softmax, n node) kernel.Call {
	outer, count, inner := around(n.shape(0), o.Axis)
	if o.Exact {
		return kernel.SoftmaxExact(n.out(0), n.in(0), outer, count, inner)
	}
	return kernel.Softmax(n.out(0), n.in(0), outer, count, inner)
}

var reductions = map[op.Reduction]func(dst, src kernel.Memory, outer, n, inner dim.Dim) kernel.Call{
	op.ReduceL1:        kernel.ReduceL1,
	op.ReduceL2:        kernel.ReduceL2,
	op.ReduceLogSum:    kernel.ReduceLogSum,
	op.ReduceLogSumExp: kernel.ReduceLogSumExp,
	op.ReduceMax:       kernel.ReduceMax,
	op.ReduceMean:      kernel.ReduceMean,
	op.ReduceMin:       kernel.ReduceMin,
	op.ReduceProd:      kernel.ReduceProd,
	op.ReduceSum:       kernel.ReduceSum,
	op.ReduceSumSquare: kernel.ReduceSumSquare,
}

// reduce returns the call of a reduction. The maximum of booleans is cpu.ReduceAny, and the minimum cpu.ReduceAll.
// The call has an Err if the axes are not adjacent.
func reduce(o op.Reduce, n node) kernel.Call {
	x := n.Arg(0).Type
	if len(op.AxisRuns(x.Shape, o.Axes)) > 1 {
		return none("axes %v are not neighbours", o.Axes)
	}
	call := reductions[o.Kind]
	switch {
	case x.DType == ir.Bool && o.Kind == op.ReduceMax:
		call = kernel.ReduceAny
	case x.DType == ir.Bool && o.Kind == op.ReduceMin:
		call = kernel.ReduceAll
	}
	outer, count, inner := around(x.Shape, o.Axes...)
	return call(n.out(0), n.in(0), outer, count, inner)
}
