package call

import (
	"slices"

	"github.com/burngen/burngen/gen/target/cpu/storage"

	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

var conv = []entry{
	computes(convBlocked),
	computes(convDataBlocked),
	computes(convDirect),
	computes(convPixels),
	computes(convWeights),
	computes(convWeightsBlocked),
	computes(depthwiseBlocked),
	computes(depthwisePlanar),
	computes(packConv),
	computes(packConvData),
}

func convDirect(o op.Conv, n node) kernel.Call {
	x, y := n.shape(0), n.Results[0].Type.Shape
	s := sidesOf(o.Window, x[2:], y[2:])
	return kernel.ConvDirect(n.out(0), n.in(0), n.in(1), n.in(2), x[0], x[1], y[1], dim.Const(o.Group),
		s.in, s.out, s.kernel, s.strides, s.dilations, s.pads)
}

func convBlocked(o storage.ConvBlocked, n node) kernel.Call {
	shape := convShape(o.Window, n.shape(0), n.Results[0].Type.Shape, o.Packing(n.Arg(0).Type), o.Parts)
	return kernel.Conv(n.out(0), n.in(0), n.in(1), shape, epilogue(o.Epilogue, n))
}

func convDataBlocked(o storage.ConvDataBlocked, n node) kernel.Call {
	p := storage.Packing{InC: o.InC, OutC: o.OutC, Group: 1, InBlock: op.BlockLanes}
	shape := convShape(o.Window, n.Results[0].Type.Shape, n.shape(0), p, o.Parts)
	return kernel.ConvData(n.out(0), n.in(0), n.in(1), shape)
}

// convPixels returns the call of a matrix product, which multiplies the weights by each image. An image is a matrix
// with a row for each channel.
func convPixels(o storage.ConvPixels, n node) kernel.Call {
	x := n.shape(0)
	pixels, in, out := dim.Product(x[2:]...), dim.Const(o.InC), dim.Const(o.OutC)
	return kernel.MatMul(n.out(0), n.in(1), n.in(0), &kernel.MatMulShape{
		M: out, N: pixels, K: in, LDA: in, LDC: pixels,
		Batch: x[0], StrideB: pixels.Mul(in), StrideC: pixels.Mul(out),
		LDB: pixels, RowBias: true, Terms: dim.Const(o.Terms),
	}, epilogue(o.Epilogue, n))
}

func convWeights(o op.ConvWeights, n node) kernel.Call {
	x, g := n.Arg(0).Type, n.Arg(1).Type
	inC, outC, ok := o.HasKernel(x, g)
	if !ok || !o.First {
		return none("no kernel for %s and %s", x, g)
	}
	y := slices.Concat([]dim.Dim{g.Shape[1], g.Shape[0]}, g.Shape[2:])
	terms := g.Shape[1].Mul(dim.Product(g.Shape[2:]...))
	scratch := kernel.Scratch{DType: ir.F32, Len: kernel.ConvWeightsScratch(terms).Mul(dim.Const(kernel.ConvWeightsParts))}
	p := storage.Packing{InC: inC, OutC: outC, Group: o.Group, InBlock: 1}
	return kernel.ConvWeights(n.out(0), n.in(0), n.in(1), scratch, convShape(o.Window, x.Shape, y, p, op.Parts{}))
}

func convWeightsBlocked(o storage.ConvWeightsBlocked, n node) kernel.Call {
	x, g := n.Arg(0).Type, n.Arg(1).Type
	room := kernel.ConvWeightsBlockedRoom(dim.Product(dim.Consts(o.Kernel...)...)).Mul(dim.Const(kernel.ConvWeightsParts))
	scratch := kernel.Scratch{DType: ir.F32, Len: x.Elems().Add(g.Elems()).Add(room)}
	p := storage.Packing{InC: o.InC, OutC: o.OutC, Group: 1, InBlock: op.BlockLanes}
	return kernel.ConvWeightsBlocked(n.out(0), n.in(0), n.in(1), scratch, convShape(o.Window, x.Shape, g.Shape, p, op.Parts{}))
}

func depthwiseBlocked(o storage.DepthwiseBlocked, n node) kernel.Call {
	p := storage.Packing{InC: o.C, OutC: o.C, Group: o.C, InBlock: op.BlockLanes}
	shape := convShape(o.Window, n.shape(0), n.Results[0].Type.Shape, p, op.Parts{})
	return kernel.DepthwiseConv(n.out(0), n.in(0), n.in(1), shape, epilogue(o.Epilogue, n))
}

func depthwisePlanar(o storage.DepthwisePlanar, n node) kernel.Call {
	p := storage.Packing{InC: o.C, OutC: o.C, Group: o.C, InBlock: 1}
	shape := convShape(o.Window, n.shape(0), n.Results[0].Type.Shape, p, op.Parts{})
	return kernel.DepthwisePlanar(n.out(0), n.in(0), n.in(1), shape, epilogue(o.Epilogue, n))
}

func packConv(o storage.PackConv, n node) kernel.Call {
	p, kh, kw, err := o.Packing(n.Arg(0).Type)
	if err != nil {
		return none("%w", err)
	}
	return kernel.PackConv(n.out(0), n.in(0), packShape(p, []int{kh, kw}))
}

func packConvData(o storage.PackConvData, n node) kernel.Call {
	p, kh, kw, err := o.Packing(n.Arg(0).Type)
	if err != nil {
		return none("%w", err)
	}
	return kernel.PackConvData(n.out(0), n.in(0), packShape(p, []int{kh, kw}))
}
