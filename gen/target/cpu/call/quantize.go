package call

import (
	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

var quantize = []entry{
	computes(dequantizeLinear),
	computes(dequantizeScalar),
	computes(quantizeLinear),
	computes(quantizeScalar),
	computes(func(_ op.ByteTable, n node) kernel.Call { return kernel.ByteTable(n.out(0), n.in(0), n.in(1)) }),
}

func quantizeScalar(o op.Quantize, n node) kernel.Call {
	lo, hi := op.QuantRange(o.To)
	scale := kernel.Number{DType: ir.F32, Float: o.Scale}
	return kernel.QuantizeScalar(n.out(0), n.in(0), scale, dim.Const(o.Zero), dim.Const(int(lo)), dim.Const(int(hi)))
}

func dequantizeScalar(o op.Dequantize, n node) kernel.Call {
	scale := kernel.Number{DType: ir.F32, Float: o.Scale}
	return kernel.DequantizeScalar(n.out(0), n.in(0), scale, dim.Const(o.Zero))
}

func quantizeLinear(o op.QuantizeLinear, n node) kernel.Call {
	x, scale := n.Arg(0).Type, n.Arg(1).Type
	if x.DType != ir.F32 || scale.DType != ir.F32 || !o.To.IsInt() || o.Precision != ir.F32 {
		return none("no kernel quantises %s by %s in %s to %s", x, scale, o.Precision, o.To)
	}
	outer, count, inner, run := runs(o.Granularity, x, scale)
	lo, hi := op.QuantRange(o.To)
	return kernel.Quantize(n.out(0), n.in(0), n.in(1), n.in(2), outer, count, inner, run, dim.Const(int(lo)), dim.Const(int(hi)))
}

func dequantizeLinear(o op.DequantizeLinear, n node) kernel.Call {
	x, scale := n.Arg(0).Type, n.Arg(1).Type
	if !x.DType.IsInt() || scale.DType != ir.F32 || o.To != ir.F32 {
		return none("no kernel dequantises %s by %s to %s", x, scale, o.To)
	}
	outer, count, inner, run := runs(o.Granularity, x, scale)
	return kernel.Dequantize(n.out(0), n.in(0), n.in(1), n.in(2), outer, count, inner, run)
}

// runs describes which elements of x share a scale. n is the extent of the scale's axis. outer is the product of the
// extents before the axis, and inner of the extents after it. run is the number of adjacent indices on the axis that
// share one scale, or 0 if each index has its own scale. For a scale of one element, outer and n are 1 and run is 0.
func runs(g op.Granularity, x, scale ir.Type) (outer, n, inner, run dim.Dim) {
	if scale.Elems().Equal(dim.Const(1)) {
		return dim.Const(1), dim.Const(1), x.Elems(), dim.Const(0)
	}
	return dim.Product(x.Shape[:g.Axis]...), x.Shape[g.Axis], dim.Product(x.Shape[g.Axis+1:]...), dim.Const(g.Block)
}
