package call

import (
	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// comparison lists the operators that compare two operands. If only the first operand is a constant
// of equal elements, the mirrored comparison is called with the operands exchanged.
var comparison = []entry{
	compares[op.Equal](kernel.Equal, kernel.EqualScalar, kernel.EqualScalar),
	compares[op.Greater](kernel.Greater, kernel.GreaterScalar, kernel.LessScalar),
	compares[op.GreaterOrEqual](kernel.GreaterOrEqual, kernel.GreaterOrEqualScalar, kernel.LessOrEqualScalar),
	compares[op.Less](kernel.Less, kernel.LessScalar, kernel.GreaterScalar),
	compares[op.LessOrEqual](kernel.LessOrEqual, kernel.LessOrEqualScalar, kernel.GreaterOrEqualScalar),
}

func compares[O ir.Op](runs runsForm, scalar, mirrored scalarForm) entry {
	return computes(func(_ O, n node) kernel.Call { return swap(n, runs, scalar, mirrored) })
}
