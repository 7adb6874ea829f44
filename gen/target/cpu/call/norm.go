package call

import (
	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

var norm = []entry{
	computes(groupNormalization),
	computes(layerNormalization),
	computes(lrn),
	computes(rmsNormalization),
}

func groupNormalization(o op.GroupNormalization, n node) kernel.Call {
	x := n.shape(0)
	return kernel.GroupNorm(n.out(0), n.in(0), n.in(1), n.in(2), x[0], dim.Const(o.Groups), x[1], dim.Product(x[2:]...), n.number(o.Epsilon))
}

func layerNormalization(o op.LayerNormalization, n node) kernel.Call {
	x := n.shape(0)
	return kernel.LayerNorm(n.out(0), n.in(0), n.in(1), n.in(2), dim.Product(x[:o.Axis]...), dim.Product(x[o.Axis:]...), n.number(o.Epsilon))
}

func rmsNormalization(o op.RMSNormalization, n node) kernel.Call {
	x := n.shape(0)
	return kernel.RMSNorm(n.out(0), n.in(0), n.in(1), dim.Product(x[:o.Axis]...), dim.Product(x[o.Axis:]...), n.number(o.Epsilon))
}

func lrn(o op.LRN, n node) kernel.Call {
	x := n.Arg(0).Type
	end, err := op.SpatialEnd(x, o.Blocked)
	if err != nil || x.DType != ir.F32 {
		return none("no kernel normalises %s", x)
	}
	width := lanes(o.Blocked)
	return kernel.LRN(n.out(0), n.in(0), x.Shape[0], x.Shape[1].Mul(width), dim.Product(x.Shape[2:end]...), width, dim.Const(o.Size),
		kernel.F32(o.Alpha), kernel.F32(o.Beta), kernel.F32(o.Bias))
}
