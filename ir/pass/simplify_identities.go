package pass

import (
	"math"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// simplifyIdentities replaces nodes by one of their operands or by a simpler node if the result is
// the same to the last bit.
func simplifyIdentities(_ *Context, m *ir.Module) (changed bool, err error) {
	return rewriteAll(m, func(b *ir.Builder, n *ir.Node) []*ir.Value {
		if len(n.Results) != 1 {
			return nil
		}
		for _, simplify := range identities {
			if v := simplify(b, n); v != nil {
				return []*ir.Value{v}
			}
		}
		return nil
	})
}

// identities are the rewrites of this pass. Each returns a value that replaces the only result of a
// node. It returns nil if it does not apply to the node.
var identities = []func(*ir.Builder, *ir.Node) *ir.Value{
	unchanged, constantLast, neutralOperand, involution, idempotent, decidedWhere,
	nestedClip, roundTripCast, smallPower, exactQuotient, wholeConcat,
}

// unchanged returns the operand of n if n's attributes make it an identity, such as a cast to the
// operand's type.
func unchanged(_ *ir.Builder, n *ir.Node) *ir.Value {
	if len(n.Args) != 1 || n.Args[0] == nil || !n.Args[0].Type.Equal(n.Results[0].Type) {
		return nil
	}
	o, ok := n.Op.(op.Identity)
	if !ok || !o.IsIdentity(n.Args[0].Type) {
		return nil
	}
	return n.Args[0]
}

// constantLast swaps the operands of a commutative operator if the first has the greater rank by
// [rankOfConstness].
func constantLast(b *ir.Builder, n *ir.Node) *ir.Value {
	if _, ok := n.Op.(op.Commutative); !ok || rankOfConstness(n.Args[0]) <= rankOfConstness(n.Args[1]) {
		return nil
	}
	return b.Node(n.Op, n.Args[1], n.Args[0])
}

// rankOfConstness returns 2 for a constant, 1 for a weight and 0 for other values. A commutative
// operator gets the operand with the greater number as its second operand.
func rankOfConstness(v *ir.Value) int {
	if v.Def == nil {
		return 0
	}
	switch v.Def.Op.(type) {
	case ir.Load:
		return 1
	case ir.Constant:
		return 2
	}
	return 0
}

// neutralOperand returns the first operand if the second is neutral, such as 0 in a sum.
func neutralOperand(_ *ir.Builder, n *ir.Node) *ir.Value {
	o, ok := n.Op.(op.Neutral)
	if ok && len(n.Args) == 2 && isNumber(n.Args[1], o.Neutral()) && n.Args[0].Type.Equal(n.Results[0].Type) {
		return n.Args[0]
	}
	return nil
}

// neutralOperand returns the first operand if the second is neutral, such as 0 in a sum. Otherwise
// it returns nil.
func isNumber(v *ir.Value, x float64) bool {
	t, ok := v.ConstValue()
	switch {
	case !ok || t.Stored() != 1 || t.DType == ir.String:
		return false
	case t.DType.IsFloat():
		return math.Float64bits(t.Float(0)) == math.Float64bits(x)
	}
	return !math.IsInf(x, 0) && t.Int(0) == int64(x)
}

// involution replaces f(f(x)) by x for operators that are their own inverse.
func involution(_ *ir.Builder, n *ir.Node) *ir.Value {
	if _, ok := n.Op.(op.Involution); ok && isAgain(n) {
		return n.Args[0].Def.Args[0]
	}
	return nil
}

func isAgain(n *ir.Node) bool {
	return len(n.Args) == 1 && n.Args[0].Def != nil && ir.Equal(n.Args[0].Def.Op, n.Op)
}

// idempotent replaces f(f(x)) by f(x), and f(x, x) by x, for idempotent operators.
func idempotent(_ *ir.Builder, n *ir.Node) *ir.Value {
	if _, ok := n.Op.(op.Idempotent); ok && (isAgain(n) || len(n.Args) == 2 && n.Args[0] == n.Args[1]) {
		return n.Args[0]
	}
	return nil
}

// decidedWhere replaces Where(condition, x, y) by x or y. It returns x if the condition is
// constantly true, or if x and y are the same value. It returns y if the condition is constantly
// false.
func decidedWhere(_ *ir.Builder, n *ir.Node) *ir.Value {
	if _, ok := n.Op.(op.Where); !ok {
		return nil
	}
	var chosen *ir.Value
	switch cond, x, y := n.Args[0], n.Args[1], n.Args[2]; {
	case x == y, isNumber(cond, 1):
		chosen = x
	case isNumber(cond, 0):
		chosen = y
	default:
		return nil
	}
	if !chosen.Type.Equal(n.Results[0].Type) {
		return nil
	}
	return chosen
}

// nestedClip merges bounds that follow each other. A Relu is a lower bound of 0, so that a Clip of
// a Relu becomes one Clip. Like the Relu, this Clip does not change −0.
func nestedClip(b *ir.Builder, n *ir.Node) *ir.Value {
	outer, ok := bounds(n.Op)
	inner := n.Args
	if !ok || inner[0].Def == nil {
		return nil
	}
	in, ok := bounds(inner[0].Def.Op)
	if !ok {
		return nil
	}
	joined := op.Clip{Lo: outer.limit(in.Lo), Hi: outer.limit(in.Hi)}
	if in.Lo > in.Hi || outer.Lo > outer.Hi {
		return nil
	}
	return b.Node(joined, inner[0].Def.Args[0])
}

type interval struct{ Lo, Hi float64 }

func bounds(o ir.Op) (interval, bool) {
	c, ok := o.(op.Clamp)
	if !ok {
		return interval{}, false
	}
	lo, hi := c.Limits()
	return interval{lo, hi}, true
}

func (i interval) limit(x float64) float64 {
	if x < i.Lo {
		x = i.Lo
	}
	if x > i.Hi {
		x = i.Hi
	}
	return x
}

// roundTripCast merges two casts: cast(cast(x)) becomes a single cast of x, or x itself if the type
// does not change. The type between the casts must represent all values of x's type.
func roundTripCast(b *ir.Builder, n *ir.Node) *ir.Value {
	outer, ok := n.Op.(op.Cast)
	if !ok || n.Args[0].Def == nil {
		return nil
	}
	inner, ok := n.Args[0].Def.Op.(op.Cast)
	x := n.Args[0].Def.Arg(0)
	if !ok || !holds(inner.To, x.Type.DType) {
		return nil
	}
	if x.Type.DType == outer.To {
		return x
	}
	return b.Node(outer, x)
}

// holds reports whether every value of type `narrow` is known to be a value of type `wide` too.
func holds(wide, narrow ir.DType) bool {
	mantissa := map[ir.DType]int{ir.F64: 53, ir.F32: 24, ir.F16: 11, ir.BF16: 8}
	switch {
	case wide == narrow:
		return true
	case wide.IsFloat() && narrow.IsFloat():
		return wide == ir.F64 && narrow.Bits() <= 32 || wide == ir.F32 && narrow.Bits() <= 16
	case wide.IsFloat():
		return narrow.IsInt() && narrow.Bits() <= mantissa[wide]
	case wide.IsInt() && narrow.IsInt():
		signed := wide.Class() == ir.Signed
		return wide.Class() == narrow.Class() && wide.Bits() >= narrow.Bits() || signed && wide.Bits() > narrow.Bits()
	}
	return false
}

// smallPower replaces x² by x·x, and x⁻¹ by a reciprocal, for floats.
func smallPower(b *ir.Builder, n *ir.Node) *ir.Value {
	if _, ok := n.Op.(op.Pow); !ok || !n.Args[0].Type.DType.IsFloat() || !n.Args[0].Type.Equal(n.Results[0].Type) {
		return nil
	}
	switch x, y := n.Args[0], n.Args[1]; {
	case isNumber(y, 2):
		return b.Node(op.Mul{}, x, x)
	case isNumber(y, -1):
		return b.Node(op.Reciprocal{}, x)
	}
	return nil
}

// exactQuotient replaces x/c by x·(1/c). It does so only if c is ±2ᵏ with −13 ≤ k ≤ 13, and the
// elements are floats of at least 16 bits, because the product is then exact.
func exactQuotient(b *ir.Builder, n *ir.Node) *ir.Value {
	t, ok := n.Arg(1).ConstValue()
	if _, isDiv := n.Op.(op.Div); !isDiv || !ok || t.Stored() != 1 || !t.DType.IsFloat() {
		return nil
	}
	fraction, exponent := math.Frexp(t.Float(0))
	if math.Abs(fraction) != 0.5 || exponent > 14 || exponent < -12 || t.Float(0) == 1 || t.DType.Bits() < 16 {
		return nil
	}
	one := ir.NewTensor(t.DType)
	one.SetFloat(0, 1/t.Float(0))
	return b.Node(op.Mul{}, n.Args[0], b.Const(repeated(one, t.Shape)))
}

// wholeConcat removes operands from a concatenation. An operand is removed if its extent along the
// concatenated axis is 0. If one operand is left, it is the result.
func wholeConcat(b *ir.Builder, n *ir.Node) *ir.Value {
	o, ok := n.Op.(op.Concat)
	if !ok {
		return nil
	}
	empty := func(v *ir.Value) bool { return v.Type.Shape[o.Axis].Equal(dim.Dim{}) }
	args := slices.DeleteFunc(slices.Clone(n.Args), empty)
	switch len(args) {
	case 0, len(n.Args):
		return nil
	case 1:
		return args[0]
	}
	return b.Node(o, args...)
}
