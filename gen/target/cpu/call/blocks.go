package call

import (
	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/gen/target/cpu/storage"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

var blocks = []entry{
	computes(block),
	computes(blockBytes),
	computes(gatherChannels),
	computes(padBlocked),
	computes(padBytes),
	computes(unblock),
	computes(unblockBytes),
}

func block(_ storage.Block, n node) kernel.Call {
	x := n.shape(0)
	h, w := plane(x[2:])
	return kernel.Block(n.out(0), n.in(0), x[0], x[1], h, w)
}

func unblock(_ storage.Unblock, n node) kernel.Call {
	y := n.Results[0].Type.Shape
	h, w := plane(y[2:])
	return kernel.Unblock(n.out(0), n.in(0), y[0], y[1], h, w)
}

func blockBytes(o storage.BlockBytes, n node) kernel.Call {
	x := n.shape(0)
	h, w := plane(x[2:])
	return kernel.BlockBytes(n.out(0), n.in(0), n.in(1), x[0], x[1], h, w, dim.Const(o.Lanes), planePads(o.Pads))
}

func unblockBytes(o storage.UnblockBytes, n node) kernel.Call {
	x := n.shape(0)
	return kernel.UnblockBytes(n.out(0), n.in(0), x[0], dim.Const(o.C), dim.Product(x[2:len(x)-1]...))
}

func padBytes(o storage.PadBytes, n node) kernel.Call {
	x := n.shape(0)
	h, w := plane(x[2 : len(x)-1])
	return kernel.PadBytes(n.out(0), n.in(0), n.in(1), x[0].Mul(x[1]), h, w, planePads(o.Pads))
}

func padBlocked(o storage.PadBlocked, n node) kernel.Call {
	x := n.Arg(0).Type
	end, err := op.SpatialEnd(x, true)
	if err != nil {
		return none("%w", err)
	}
	h, w := plane(x.Shape[2:end])
	fill := kernel.Number{DType: ir.F32, Float: float64(o.Fill)}
	return kernel.PadBlocked(n.out(0), n.in(0), x.Shape[0], x.Shape[1], h, w, planePads(o.Pads), fill)
}

func gatherChannels(o storage.GatherChannels, n node) kernel.Call {
	y, last := n.Results[0].Type, len(n.Args)-1
	var parts []kernel.Memory
	for i := range last {
		parts = append(parts, n.in(i))
	}
	pixels := dim.Product(y.Shape[2 : y.Rank()-1]...)
	return kernel.GatherChannels(n.out(0), n.in(last), y.Shape[0], pixels, dim.Consts(o.Channels...), parts...)
}
