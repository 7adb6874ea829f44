package call

import (
	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

var arithmetic = []entry{
	commutative[op.Add](kernel.Add, kernel.AddScalar),
	commutative[op.BitwiseAnd](kernel.BitAnd, kernel.BitAndScalar),
	commutative[op.BitwiseOr](kernel.BitOr, kernel.BitOrScalar),
	commutative[op.BitwiseXor](kernel.BitXor, kernel.BitXorScalar),
	commutative[op.Max](kernel.Max, kernel.MaxScalar),
	commutative[op.Min](kernel.Min, kernel.MinScalar),
	commutative[op.Mul](kernel.Mul, kernel.MulScalar),
	computes(func(_ op.Sub, n node) kernel.Call {
		return binary(n, kernel.Sub, kernel.SubScalar, kernel.ScalarSub)
	}),
	computes(bitShift),
	computes(div),
	computes(mod),
	computes(pow),
	computes(func(_ op.Gate, n node) kernel.Call { return kernel.Gate(n.out(0), n.in(0), n.in(1)) }),
	computes(pRelu),
}

// These are the forms of a vector primitive with two operands, a and b. In runsForm, both are runs. A run is a slice
// of adjacent elements. In scalarForm, a is a run and b a number. In flipForm, a is a number and b a run.
type (
	runsForm   = func(dst, a, b kernel.Memory) kernel.Call
	scalarForm = func(dst, a kernel.Memory, b kernel.Scalar) kernel.Call
	flipForm   = func(dst kernel.Memory, a kernel.Scalar, b kernel.Memory) kernel.Call
)

func commutative[O ir.Op](runs runsForm, scalar scalarForm) entry {
	return computes(func(_ O, n node) kernel.Call { return swap(n, runs, scalar, scalar) })
}

// swap is like [binary], for a primitive without a flipped form. If a is a constant with equal elements and b is not,
// swap returns the call of the mirrored primitive with the operands exchanged. For example, 1 > b becomes b < 1.
func swap(n node, runs runsForm, scalar, mirrored scalarForm) kernel.Call {
	return binary(n, runs, scalar, func(dst kernel.Memory, a kernel.Scalar, b kernel.Memory) kernel.Call {
		return mirrored(dst, b, a)
	})
}

// binary returns the call of a vector primitive with two operands, a and b. It uses the form `scalar` if b is a
// constant with equal elements, the form `flipped` if only a is such a constant, and the form `runs` if neither is.
func binary(n node, runs runsForm, scalar scalarForm, flipped flipForm) kernel.Call {
	if s, ok := uniform(n.Arg(1)); ok {
		return scalar(n.out(0), n.in(0), s)
	}
	if s, ok := uniform(n.Arg(0)); ok {
		return flipped(n.out(0), s, n.in(1))
	}
	return runs(n.out(0), n.in(0), n.in(1))
}

func bitShift(o op.BitShift, n node) kernel.Call {
	if o.Left {
		return binary(n, kernel.ShiftLeft, kernel.ShiftLeftScalar, kernel.ScalarShiftLeft)
	}
	return binary(n, kernel.ShiftRight, kernel.ShiftRightScalar, kernel.ScalarShiftRight)
}

func div(_ op.Div, n node) kernel.Call {
	if n.Arg(0).Type.DType.IsFloat() {
		return binary(n, kernel.Div, kernel.DivScalar, kernel.ScalarDiv)
	}
	return binary(n, kernel.DivInt, kernel.DivIntScalar, kernel.ScalarDivInt)
}

func mod(o op.Mod, n node) kernel.Call {
	switch {
	case n.Arg(0).Type.DType.IsFloat():
		return binary(n, kernel.Fmod, kernel.FmodScalar, kernel.ScalarFmod)
	case o.Truncated:
		return binary(n, kernel.Rem, kernel.RemScalar, kernel.ScalarRem)
	}
	return binary(n, kernel.Mod, kernel.ModScalar, kernel.ScalarMod)
}

func pow(_ op.Pow, n node) kernel.Call {
	if n.Arg(0).Type.DType.IsFloat() {
		return binary(n, kernel.Pow, kernel.PowScalar, kernel.ScalarPow)
	}
	return binary(n, kernel.PowInt, kernel.PowIntScalar, kernel.ScalarPowInt)
}

func pRelu(_ op.PRelu, n node) kernel.Call {
	if s, ok := uniform(n.Arg(1)); ok {
		return kernel.PReluScalar(n.out(0), n.in(0), s)
	}
	return kernel.PRelu(n.out(0), n.in(0), n.in(1))
}
