package pass

import (
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// madeBy returns the node that computes v, and the node's operator, if the operator is of type O.
// Otherwise ok is false.
func madeBy[O ir.Op](v *ir.Value) (n *ir.Node, o O, ok bool) {
	if v == nil || v.Def == nil {
		return nil, o, false
	}
	o, ok = v.Def.Op.(O)
	return v.Def, o, ok
}

// numberOf returns x if v is a constant with the single element x, or a constant tensor that stores
// x once for all its elements. ok is false for other values.
func numberOf(v *ir.Value) (x float64, ok bool) {
	t, ok := v.ConstValue()
	if !ok || t.Stored() != 1 || t.DType == ir.String || t.DType == ir.Bool {
		return 0, false
	}
	return t.Number(0), true
}

func isAbout(v *ir.Value, x float64) bool {
	got, ok := numberOf(v)
	return ok && about(got, x, v.Type.DType)
}

// about reports whether `got` is close enough to x to be x rounded to element type d. The tolerance
// is 2e-6 relative to x, or 4e-3 if d has fewer than 32 bits.
func about(got, x float64, d ir.DType) bool {
	tolerance := 2e-6
	if d.Bits() < 32 {
		tolerance = 4e-3
	}
	return math.Abs(got-x) <= tolerance*math.Abs(x)
}

// unscaled returns x and c such that v = c·x. It looks through products with constants, quotients
// by constants, and negations. If v is not one of these, x is v and c is 1.
func unscaled(v *ir.Value) (x *ir.Value, c float64) {
	for c = 1; ; v = v.Def.Args[0] {
		if v.Def == nil || len(v.Def.Args) == 0 || v.Def.Args[0] == nil || !v.Def.Args[0].Type.Equal(v.Type) {
			return v, c
		}
		by, isNumber := numberOf(v.Def.Arg(1))
		switch v.Def.Op.(type) {
		case op.Neg:
			by, isNumber = -1, true
		case op.Mul:
		case op.Div:
			by = 1 / by
		default:
			return v, c
		}
		if !isNumber || by == 0 || math.IsInf(by, 0) || by != by {
			return v, c
		}
		c *= by
	}
}

// factors splits v into factors: v = c·values[0]·values[1]·…, where c is a number. If v is not a
// product, it is the only factor. A factor that is itself a product is split too, if it has no
// other reader.
func factors(b *ir.Builder, v *ir.Value) (values []*ir.Value, c float64) {
	x, c := unscaled(v)
	n, _, ok := madeBy[op.Mul](x)
	if !ok || x != v && b.Uses(x) != 1 {
		return []*ir.Value{x}, c
	}
	for _, a := range n.Args {
		more, by := []*ir.Value{a}, 1.0
		if b.Uses(a) == 1 && a.Type.Equal(v.Type) {
			more, by = factors(b, a)
		}
		values, c = append(values, more...), c*by
	}
	return values, c
}

func seq(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}
