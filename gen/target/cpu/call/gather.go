package call

import (
	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

var gather = []entry{
	computes(gatherAxis),
	computes(gatherElements),
	computes(gatherND),
	computes(oneHot),
	computes(reverseSequence),
	computes(func(_ op.Lookup, n node) kernel.Call {
		return kernel.Lookup(n.out(0), n.in(0), n.in(1), n.in(2), n.in(3))
	}),
}

func gatherAxis(o op.Gather, n node) kernel.Call {
	outer, dim, inner := around(n.shape(0), o.Axis)
	return kernel.Gather(n.out(0), n.in(0), n.in(1), outer, dim, inner)
}

func gatherElements(o op.GatherElements, n node) kernel.Call {
	return kernel.GatherElements(n.out(0), n.in(0), n.in(1), n.shape(1), n.shape(0), dim.Const(o.Axis))
}

func gatherND(o op.GatherND, n node) kernel.Call {
	x, indices := n.shape(0), n.shape(1)
	last := len(indices) - 1
	k, _ := indices[last].Int()
	return kernel.GatherND(n.out(0), n.in(0), n.in(1), dim.Product(x[:o.BatchDims]...), dim.Product(indices[o.BatchDims:last]...),
		x[o.BatchDims:o.BatchDims+k], dim.Product(x[o.BatchDims+k:]...))
}

func oneHot(o op.OneHot, n node) kernel.Call {
	x := n.shape(0)
	return kernel.OneHot(n.out(0), n.in(0), n.in(1), dim.Product(x[:o.Axis]...), o.Depth, dim.Product(x[o.Axis:]...))
}

func reverseSequence(o op.ReverseSequence, n node) kernel.Call {
	x := n.shape(0)
	time, batch := o.Axes()
	return kernel.ReverseSequence(n.out(0), n.in(0), n.in(1), x[time], x[batch], dim.Product(x[2:]...), o.BatchFirst)
}
