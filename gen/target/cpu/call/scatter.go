package call

import (
	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

var scatter = []entry{computes(scatterElements), computes(scatterND)}

func scatterElements(o op.ScatterElements, n node) kernel.Call {
	call := map[string]func(dst, src, idx, updates kernel.Memory, shape, srcShape []dim.Dim, axis dim.Dim) kernel.Call{
		"": kernel.ScatterElements, "add": kernel.ScatterElementsAdd, "mul": kernel.ScatterElementsMul,
		"max": kernel.ScatterElementsMax, "min": kernel.ScatterElementsMin,
	}[o.Reduction]
	return call(n.out(0), n.in(0), n.in(1), n.in(2), n.shape(1), n.shape(0), dim.Const(o.Axis))
}

func scatterND(o op.ScatterND, n node) kernel.Call {
	call := map[string]func(dst, src, idx, updates kernel.Memory, extents []dim.Dim, inner dim.Dim) kernel.Call{
		"": kernel.ScatterND, "add": kernel.ScatterNDAdd, "mul": kernel.ScatterNDMul,
		"max": kernel.ScatterNDMax, "min": kernel.ScatterNDMin,
	}[o.Reduction]
	x, indices := n.shape(0), n.shape(1)
	k, _ := indices[len(indices)-1].Int()
	return call(n.out(0), n.in(0), n.in(1), n.in(2), x[:k], dim.Product(x[k:]...))
}
