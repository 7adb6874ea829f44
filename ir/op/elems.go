package op

import "github.com/burngen/burngen/ir"

// elemsBroadcast applies a function of expressions to the elements of broadcast
// operands that are all known. It knows nothing where the function does not, or
// where a result may not fit the element type.
func elemsBroadcast(in []*ir.Value, out ir.Type, f func(e []ir.Ratio) (ir.Ratio, bool)) []ir.Ratio {
	shape, ok := out.Static()
	if !ok {
		return nil
	}
	walks := make([]*index, len(in))
	for i, v := range in {
		from, ok := v.Type.Static()
		if !ok {
			return nil
		}
		walks[i] = newIndex(shape, from)
	}
	n, _ := out.Elems().Int()
	elems, e := make([]ir.Ratio, n), make([]ir.Ratio, len(in))
	for i := range elems {
		for j, w := range walks {
			e[j] = in[j].Elems[w.Offset]
			w.Next()
		}
		if elems[i], ok = f(e); !ok || !holds(out.DType, elems[i]) {
			return nil
		}
	}
	return elems
}

// elemsBinary is elemsBroadcast for a function that does not depend on the
// common denominator of its two arguments, such as a sum or a maximum.
func elemsBinary(in []*ir.Value, out ir.Type, f func(a, b ir.Dim) ir.Dim) []ir.Ratio {
	return elemsBroadcast(in, out, func(e []ir.Ratio) (ir.Ratio, bool) {
		a, b, den := common(e[0], e[1])
		return fraction(f(a, b), den)
	})
}

// elemsUnary applies a function to known elements.
func elemsUnary(in []*ir.Value, out ir.Type, f func(ir.Ratio) (ir.Ratio, bool)) []ir.Ratio {
	return elemsBroadcast(in, out, func(e []ir.Ratio) (ir.Ratio, bool) { return f(e[0]) })
}

// common returns the numerators of two ratios over their common denominator.
func common(a, b ir.Ratio) (x, y ir.Dim, den int) {
	if a.Den == b.Den {
		return a.Num, b.Num, a.Den
	}
	return a.Num.Mul(ir.Const(b.Den)), b.Num.Mul(ir.Const(a.Den)), a.Den * b.Den
}

// maxDen is the largest denominator of a known element: products of two of them
// fit an int everywhere.
const maxDen = 1 << 12

// fraction returns num/den with the common factors of two, and the whole
// denominator where it divides, taken out. It fails for large denominators.
func fraction(num ir.Dim, den int) (ir.Ratio, bool) {
	if q, ok := num.DivExact(ir.Const(den)); ok {
		return ir.Ratio{Num: q, Den: 1}, true
	}
	for den%2 == 0 {
		q, ok := num.DivExact(ir.Const(2))
		if !ok {
			break
		}
		num, den = q, den/2
	}
	return ir.Ratio{Num: num, Den: den}, den <= maxDen
}

// integer is a known element that is an integer.
func integer(d ir.Dim) ir.Ratio { return ir.Ratio{Num: d, Den: 1} }

// truth is a known boolean.
func truth(b bool) ir.Ratio {
	if b {
		return integer(ir.Const(1))
	}
	return integer(ir.Const(0))
}

// holds reports whether an element type has the value r: constants exactly;
// symbols are taken to fit the types of 32 and more bits, unsigned ones where
// they are never negative.
func holds(d ir.DType, r ir.Ratio) bool {
	n, isConst := r.Num.Int64()
	switch {
	case d.IsFloat() && isConst:
		v := float64(n) / float64(r.Den)
		return ir.RoundFloat(d, v) == v && float64(n) == v*float64(r.Den)
	case isConst:
		return r.Den == 1 && ir.WrapInt(d, n) == n && (d != ir.U64 || n >= 0)
	case d.Class() == ir.Unsigned && !r.Num.NonNegative():
		return false
	}
	return d.Bits() >= 32
}
