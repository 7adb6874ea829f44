package call

import (
	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

var selection = []entry{computes(selectBoxes)}

func selectBoxes(o op.SelectBoxes, n node) kernel.Call {
	scores, bounded := n.shape(1), n.Arg(4) != nil
	low := kernel.Scalar(kernel.Number{DType: ir.F32})
	if bounded {
		low = n.element(4)
	}
	queue := kernel.Scratch{DType: ir.I64, Len: scores[2]}
	return kernel.SelectBoxes(n.out(0), n.in(0), n.in(1), scores[0], scores[1], scores[2],
		n.element(2), n.element(3), low, bounded, o.Center, queue)
}
