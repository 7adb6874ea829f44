package call

import (
	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/ir/op"
)

var logic = []entry{
	commutative[op.And](kernel.And, kernel.AndScalar),
	commutative[op.Or](kernel.Or, kernel.OrScalar),
	commutative[op.Xor](kernel.Xor, kernel.XorScalar),
	computes(where),
}

func where(_ op.Where, n node) kernel.Call {
	x, isX := uniform(n.Arg(1))
	y, isY := uniform(n.Arg(2))
	switch {
	case isX && isY:
		return kernel.WhereScalars(n.out(0), n.in(0), x, y)
	case isX:
		return kernel.WhereScalarX(n.out(0), n.in(0), x, n.in(2))
	case isY:
		return kernel.WhereScalarY(n.out(0), n.in(0), n.in(1), y)
	}
	return kernel.Where(n.out(0), n.in(0), n.in(1), n.in(2))
}
