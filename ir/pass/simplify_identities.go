package pass

import (
	"math"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// simplifyIdentities replaces nodes whose result is one of their operands, or
// that a simpler node computes, to the last bit.
func simplifyIdentities(_ *Context, m *ir.Module) (bool, error) {
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

// identities are the rewrites, each of which returns nil where it does not hold.
var identities = []func(*ir.Builder, *ir.Node) *ir.Value{
	unchanged, constantLast, neutralOperand, involution, idempotent, sameOperands,
	decidedWhere, nestedClip, roundTripCast, smallPower, exactQuotient, wholeConcat,
}

// unchanged finds operators whose attributes leave nothing to do.
func unchanged(_ *ir.Builder, n *ir.Node) *ir.Value {
	if len(n.Args) != 1 || n.Args[0] == nil || !n.Args[0].Type.Equal(n.Results[0].Type) {
		return nil
	}
	x := n.Args[0]
	same := false
	switch o := n.Op.(type) {
	case op.Reshape, op.Expand, op.Concat, op.Dropout, op.Noise, op.Detach:
		same = true
	case op.Cast:
		same = o.To == x.Type.DType
	case op.Transpose:
		same = slices.IsSorted(o.Perm)
	case op.Slice:
		same = !slices.ContainsFunc(o.Steps, func(s int) bool { return s != 1 }) && allZero(o.Starts)
	case op.StridedCopy:
		same = o.Offset.Equal(ir.Dim{}) && slices.EqualFunc(o.Strides, rowMajor(x.Type.Shape), ir.Dim.Equal)
	case op.Clip:
		same = math.IsInf(o.Lo, -1) && math.IsInf(o.Hi, 1)
	}
	if !same {
		return nil
	}
	return x
}

func allZero(dims []ir.Dim) bool {
	return !slices.ContainsFunc(dims, func(d ir.Dim) bool { return !d.Equal(ir.Dim{}) })
}

// rowMajor returns the strides of a contiguous tensor, in elements.
func rowMajor(shape []ir.Dim) []ir.Dim {
	s, next := make([]ir.Dim, len(shape)), ir.Const(1)
	for i := len(shape) - 1; i >= 0; i-- {
		s[i], next = next, next.Mul(shape[i])
	}
	return s
}

// commutative are the operators whose operands may change places. Min and Max
// are not among them: of two zeros they give the second.
var commutative = ir.NewOpSet(
	op.Add{}, op.And{}, op.BitwiseAnd{}, op.BitwiseOr{}, op.BitwiseXor{}, op.Equal{}, op.Mul{}, op.Or{}, op.Xor{},
)

// constantLast is the normal form of commutative operators.
func constantLast(b *ir.Builder, n *ir.Node) *ir.Value {
	if !commutative.Has(n.Op) || rankOfConstness(n.Args[0]) <= rankOfConstness(n.Args[1]) {
		return nil
	}
	return b.Node(n.Op, n.Args[1], n.Args[0])
}

// rankOfConstness is greater for what stands rather on the right.
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

// neutral are the second operands that leave the first as it is; of floats −0
// is it for a sum, as 0 would turn −0 into 0.
var neutral = []struct {
	op    ir.Op
	value float64
}{
	{op.Add{}, math.Copysign(0, -1)},
	{op.And{}, 1},
	{op.BitShift{}, 0},
	{op.BitShift{Left: true}, 0},
	{op.BitwiseOr{}, 0},
	{op.BitwiseXor{}, 0},
	{op.Div{}, 1},
	{op.Max{}, math.Inf(-1)},
	{op.Min{}, math.Inf(1)},
	{op.Mul{}, 1},
	{op.Or{}, 0},
	{op.Pow{}, 1},
	{op.Sub{}, 0},
	{op.Xor{}, 0},
}

func neutralOperand(_ *ir.Builder, n *ir.Node) *ir.Value {
	for _, row := range neutral {
		if len(n.Args) == 2 && ir.Equal(row.op, n.Op) && isNumber(n.Args[1], row.value) && n.Args[0].Type.Equal(n.Results[0].Type) {
			return n.Args[0]
		}
	}
	return nil
}

// isNumber reports whether all elements of a constant are x; 0 and −0 differ.
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

// involution finds f(f(x)), which is x.
func involution(_ *ir.Builder, n *ir.Node) *ir.Value {
	switch n.Op.(type) {
	case op.Neg, op.Not, op.BitwiseNot:
		if inner := n.Args[0].Def; inner != nil && ir.Equal(inner.Op, n.Op) {
			return inner.Args[0]
		}
	}
	return nil
}

// idempotent finds f(f(x)), which is f(x).
func idempotent(_ *ir.Builder, n *ir.Node) *ir.Value {
	switch n.Op.(type) {
	case op.Abs, op.Ceil, op.Floor, op.Relu, op.Round, op.Sign:
		if inner := n.Args[0].Def; inner != nil && ir.Equal(inner.Op, n.Op) {
			return n.Args[0]
		}
	}
	return nil
}

// sameOperands finds f(x, x), which is x.
func sameOperands(_ *ir.Builder, n *ir.Node) *ir.Value {
	switch n.Op.(type) {
	case op.And, op.BitwiseAnd, op.BitwiseOr, op.Max, op.Min, op.Or:
		if n.Args[0] == n.Args[1] {
			return n.Args[0]
		}
	}
	return nil
}

// decidedWhere finds a choice between equal values, or one that is made.
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

// nestedClip joins bounds one after the other. Relu bounds below by 0; inside it
// is taken for a Clip, which leaves −0 as it does.
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

// interval is a pair of bounds.
type interval struct{ Lo, Hi float64 }

func bounds(o ir.Op) (interval, bool) {
	switch o := o.(type) {
	case op.Clip:
		return interval{o.Lo, o.Hi}, true
	case op.Relu:
		return interval{0, math.Inf(1)}, true
	}
	return interval{}, false
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

// roundTripCast finds a cast to a type that holds all of the operand's values,
// and from there on to another.
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

// holds reports whether the element type wide has every value of narrow, as a
// number of the same class, or a float for an integer.
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

// smallPower makes powers of floats that one operation computes that operation.
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

// exactQuotient makes a quotient by a power of two a product.
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

// wholeConcat leaves out operands without elements.
func wholeConcat(b *ir.Builder, n *ir.Node) *ir.Value {
	o, ok := n.Op.(op.Concat)
	if !ok {
		return nil
	}
	empty := func(v *ir.Value) bool { return v.Type.Shape[o.Axis].Equal(ir.Dim{}) }
	args := slices.DeleteFunc(slices.Clone(n.Args), empty)
	switch len(args) {
	case 0, len(n.Args):
		return nil
	case 1:
		return args[0]
	}
	return b.Node(o, args...)
}
