package op

import (
	"math"

	"github.com/burngen/burngen/ir"
)

// Mod is the remainder of x / y, broadcast, of numbers of one type (ONNX Mod,
// from opset 10). It has the sign of y; with Truncated that of x, as C's fmod.
// Floats need Truncated. A zero divisor of integers is an error when the model
// runs.
type Mod struct {
	binary[numbers]
	Truncated bool
}

// Infer broadcasts the operands.
func (op Mod) Infer(in []ir.Type) ([]ir.Type, error) {
	if op.Truncated {
		return inferBinary[numbers](in, ir.Invalid)
	}
	return inferBinary[integers](in, ir.Invalid)
}

// Eval computes remainders.
func (op Mod) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalBinary(in, formula{
		float: math.Mod,
		signed: nonZero(func(a, b int64) int64 {
			r := a % b
			if !op.Truncated && r != 0 && (r < 0) != (b < 0) {
				r += b
			}
			return r
		}),
		unsigned: nonZero(func(a, b uint64) uint64 { return a % b }),
	})
}

// InferElems computes remainders of expressions whose signs are the same.
func (op Mod) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsBroadcast(in, out, func(e []ir.Ratio) (ir.Ratio, bool) {
		a, b, den := common(e[0], e[1])
		if n, ok := b.Int64(); ok && n == 0 {
			return ir.Ratio{}, false
		}
		if op.Truncated && !(a.NonNegative() && b.NonNegative()) {
			return ir.Ratio{}, false
		}
		return fraction(a.Mod(b), den)
	})
}

// Call is cpu.Mod, cpu.Rem or cpu.Fmod, or a form with a scalar.
func (op Mod) Call(n *ir.Node) (ir.Call, error) {
	switch {
	case n.Arg(0).Type.DType.IsFloat():
		return callBinary(n, "Fmod", false), nil
	case op.Truncated:
		return callBinary(n, "Rem", false), nil
	}
	return callBinary(n, "Mod", false), nil
}

// Grad is the result's of x, and −1 times it times the truncated quotient of y.
func (Mod) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, want []bool) []*ir.Value {
	g, x, y, z := of[0], n.Arg(0), n.Arg(1), n.Results[0]
	return partials(b, n, want,
		func(calculus) *ir.Value { return g },
		func(c calculus) *ir.Value { return c.neg(c.mul(g, c.Node(Round{}, c.div(c.sub(x, z), y)))) },
	)
}

// importMod reads Mod.
func importMod(c ir.Importer) ([]*ir.Value, error) {
	op := Mod{Truncated: c.Int("fmod", 0) != 0}
	return []*ir.Value{c.Builder().Node(op, c.Arg(0), c.Arg(1))}, nil
}
