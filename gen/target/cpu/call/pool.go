package call

import (
	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/gen/target/cpu/storage"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

var pool = []entry{
	computes(averagePool),
	computes(globalAveragePool),
	computes(maxPool),
	computes(maxPoolBytes),
	computes(maxPoolGrad),
}

func averagePool(o op.AveragePool, n node) kernel.Call {
	x, y := n.Arg(0).Type, n.Results[0].Type
	if x.DType == ir.F64 {
		s := sidesOf(o.Window, x.Shape[2:], y.Shape[2:])
		return kernel.AveragePoolDirect(n.out(0), n.in(0), x.Shape[0].Mul(x.Shape[1]), s.in, s.out, s.kernel, s.strides, s.dilations, s.pads, o.CountPad)
	}
	shape, err := poolShape(o.Window, x, y, o.Blocked)
	if err != nil {
		return none("%w", err)
	}
	shape.CountPad = o.CountPad
	return kernel.AveragePool(n.out(0), n.in(0), shape)
}

func maxPool(o op.MaxPool, n node) kernel.Call {
	x, y := n.Arg(0).Type, n.Results[0].Type
	if x.DType == ir.F64 {
		s := sidesOf(o.Window, x.Shape[2:], y.Shape[2:])
		return kernel.MaxPoolDirect(n.out(0), n.in(0), x.Shape[0].Mul(x.Shape[1]), s.in, s.out, s.kernel, s.strides, s.dilations, s.pads)
	}
	shape, err := poolShape(o.Window, x, y, o.Blocked)
	if err != nil {
		return none("%w", err)
	}
	return kernel.MaxPool(n.out(0), n.in(0), shape)
}

func maxPoolGrad(o op.MaxPoolGrad, n node) kernel.Call {
	if x := n.Arg(0).Type; !o.HasKernel(x) {
		return none("no kernel computes the gradient of a pool of %s", x)
	}
	shape, err := poolShape(o.Window, n.Arg(0).Type, n.Arg(1).Type, o.Blocked)
	if err != nil {
		return none("%w", err)
	}
	return kernel.MaxPoolGrad(n.out(0), n.in(0), n.in(1), shape)
}

func maxPoolBytes(o storage.MaxPoolBytes, n node) kernel.Call {
	x, y, spatial := n.shape(0), n.Results[0].Type.Shape, len(o.Kernel)
	w := op.Window{Kernel: o.Kernel, Strides: o.Strides, Dilations: o.Dilations}
	return kernel.MaxPoolBytes(n.out(0), n.in(0), x[0].Mul(x[1]), pair(x[2:2+spatial]), pair(y[2:2+spatial]), pair(dim.Consts(o.Kernel...)),
		pair(dim.Consts(w.EachStride(spatial)...)), pair(dim.Consts(w.EachDilation(spatial)...)))
}

func globalAveragePool(o op.GlobalAveragePool, n node) kernel.Call {
	x := n.Arg(0).Type
	end, err := op.SpatialEnd(x, o.Blocked)
	if err != nil || x.DType != ir.F32 {
		return none("no kernel averages %s", x)
	}
	return kernel.GlobalAveragePool(n.out(0), n.in(0), x.Shape[0], x.Shape[1], dim.Product(x.Shape[2:end]...), lanes(o.Blocked))
}
