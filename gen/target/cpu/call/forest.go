package call

import (
	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

var forest = []entry{computes(svmPairs), computes(svmProbabilities), computes(svmVotes), computes(treeEnsemble)}

func treeEnsemble(o op.TreeEnsemble, n node) kernel.Call {
	rows := n.shape(0)
	return kernel.TreeEnsemble(n.out(0), n.in(0), n.in(1), n.in(2), n.in(3), n.in(4), n.in(5), n.in(6), n.in(7),
		rows[0], rows[1], dim.Const(o.Features), dim.Const(o.Targets), string(o.Aggregate))
}

func svmPairs(_ op.SVMPairs, n node) kernel.Call {
	x := n.shape(0)
	return kernel.SVMPairs(n.out(0), n.in(0), n.in(1), n.in(2), n.in(3), x[0], x[1])
}

func svmVotes(o op.SVMVotes, n node) kernel.Call {
	return kernel.SVMVotes(n.out(0), n.in(0), dim.Const(o.Classes))
}

func svmProbabilities(o op.SVMProbabilities, n node) kernel.Call {
	classes := dim.Const(o.Classes)
	scratch := kernel.Scratch{DType: ir.F32, Len: classes.Mul(dim.Const(2*o.Classes + 1))}
	return kernel.SVMProbabilities(n.out(0), n.in(0), n.in(1), n.in(2), scratch, n.shape(0)[0], classes)
}
