package call

import (
	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/gen/target/cpu/storage"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

var convBytes = []entry{
	computes(convOfBytes),
	computes(depthwiseBytes),
	computes(depthwiseInteger),
	computes(packConvBytes),
	computes(packDepthwiseBytes),
}

func packConvBytes(o storage.PackConvBytes, n node) kernel.Call {
	p, kh, kw, err := o.Packing(n.Arg(0).Type)
	if err != nil {
		return none("%w", err)
	}
	return kernel.PackConvBytes(n.out(0), n.in(0), packShape(p, []int{kh, kw}))
}

func packDepthwiseBytes(_ storage.PackDepthwiseBytes, n node) kernel.Call {
	shape, ok := n.Arg(0).Type.Static()
	if !ok {
		return none("weights %s", n.Arg(0).Type)
	}
	kh, kw := storage.KernelPlane(shape)
	return kernel.PackDepthwiseBytes(n.out(0), n.in(0), dim.Const(shape[0]), dim.Const(kh), dim.Const(kw))
}

func convOfBytes(o storage.ConvBytes, n node) kernel.Call {
	x, w := n.Arg(0).Type, n.Arg(1).Type
	window, _ := dim.Ints(w.Shape[2:4])
	shape := convShape(storage.WindowOver(o.Strides, o.Dilations, window), x.Shape, n.Results[0].Type.Shape, o.Packing(x), op.Parts{})
	passes := dim.Const(o.Passes([]ir.Type{x, w}))
	lo, hi := bounds(o.Requantize)
	return kernel.ConvBytes(n.out(0), n.in(0), n.in(1), n.in(2), n.in(3), n.in(4), shape, passes, lo, hi)
}

func depthwiseBytes(o storage.DepthwiseBytes, n node) kernel.Call {
	taps, _ := n.shape(1)[1].Int()
	p := storage.Packing{InC: o.C, OutC: o.C, Group: o.C, InBlock: op.BlockLanes}
	window := storage.WindowOver(o.Strides, o.Dilations, []int{taps, o.KW})
	shape := convShape(window, n.shape(0), n.Results[0].Type.Shape, p, op.Parts{})
	lo, hi := bounds(o.Requantize)
	return kernel.DepthwiseBytes(n.out(0), n.in(0), n.in(1), n.in(2), n.in(3), n.in(4), shape, lo, hi)
}

func bounds(r op.Requantize) (lo, hi dim.Dim) {
	least, greatest := r.Bounds()
	return dim.Const(least), dim.Const(greatest)
}

func depthwiseInteger(o op.ConvInteger, n node) kernel.Call {
	x, w, y := n.Arg(0).Type, n.Arg(1).Type, n.Results[0].Type
	if scale := n.Arg(5); !o.IsDepthwise(w) || scale != nil && scale.Type.DType != ir.F64 {
		return none("no kernel convolves %s with %s", x, w)
	}
	spatial := len(o.Kernel)
	pads := o.Padding(x.Shape[2:])[:spatial]
	if spatial == 1 {
		pads = []dim.Dim{dim.Const(0), pads[0]}
	}
	lo, hi := bounds(o.Requantize)
	return kernel.DepthwiseInteger(
		n.out(0), n.in(0), n.in(1), n.in(2), n.in(3), n.in(4), n.in(5), n.in(6),
		x.Shape[0], x.Shape[1], w.Shape[0], pair(x.Shape[2:]), pair(y.Shape[2:]), pair(dim.Consts(o.Kernel...)),
		pair(dim.Consts(o.EachStride(spatial)...)), pair(dim.Consts(o.EachDilation(spatial)...)), pads, lo, hi)
}
