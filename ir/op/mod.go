package op

import (
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/kernel/elementary"
)

// Mod is the remainder of x / y with broadcasting, for numbers of one type (ONNX Mod, from opset 10). The remainder
// has the sign of y. With Truncated it has the sign of x, like fmod of C. Floats require Truncated. An integer
// divisor of zero is an error at run time.
type Mod struct {
	binary[numbers]
	Truncated bool
}

// Infer returns the operands' element type with their common shape. It returns an error for floats
// unless Truncated is set.
func (op Mod) Infer(in []ir.Type) ([]ir.Type, error) {
	if op.Truncated {
		return inferBinary[numbers](in, ir.Invalid)
	}
	return inferBinary[integers](in, ir.Invalid)
}

// Eval returns the remainders in the common shape of both operands. It returns an error if an
// integer divisor is 0.
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

// Scalar returns the remainder for one element of each operand. It returns nil for integers unless the divisor is a
// constant other than 0.
func (op Mod) Scalar(b *kernel.Builder, d ir.DType, x []*kernel.Value) *kernel.Value {
	if x[1].Type.DType.IsFloat() {
		return elementary.Mod(b, x[0], x[1])
	}
	divisor, ok := wholeConst(d, x[1])
	switch {
	case !ok || divisor == 0:
		return nil
	case divisor == -1 && d.Class() == ir.Signed:
		return number(b, x[0], 0)
	}
	r := b.Rem(x[0], x[1])
	if op.Truncated || d.Class() == ir.Unsigned {
		return r
	}
	zero := number(b, r, 0)
	differ := b.Lt(r, zero)
	if divisor < 0 {
		differ = b.Gt(r, zero)
	}
	return b.Select(differ, b.Add(r, x[1]), r)
}

// InferElems returns the remainders as expressions. It returns nil if Truncated is set and an operand may be
// negative.
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

// Grad returns dy for x, and −dy·q for y. q is the integer (x − z)/y, where z is the result.
func (Mod) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, want []bool) []*ir.Value {
	g, x, y, z := dy[0], n.Arg(0), n.Arg(1), n.Results[0]
	return partials(b, n, want,
		func(calculus) *ir.Value { return g },
		func(c calculus) *ir.Value { return c.neg(c.mul(g, c.Node(Round{}, c.div(c.sub(x, z), y)))) },
	)
}

func importMod(c ir.Importer) ([]*ir.Value, error) {
	op := Mod{Truncated: c.Int("fmod", 0) != 0}
	return []*ir.Value{c.Builder().Node(op, c.Arg(0), c.Arg(1))}, nil
}
