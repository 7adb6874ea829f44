package op

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// elemsBroadcast applies f to the known elements of operands, which broadcast. `out` is the type of the result.
// elemsBroadcast returns nil if an extent is unknown, if f returns false, or if an element may not fit the element
// type.
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

// elemsBinary is [elemsBroadcast] for a function f of two elements, such as a sum or a maximum. It applies f to the
// numerators of the elements over a common denominator.
func elemsBinary(in []*ir.Value, out ir.Type, f func(a, b dim.Dim) dim.Dim) []ir.Ratio {
	return elemsBroadcast(in, out, func(e []ir.Ratio) (ir.Ratio, bool) {
		a, b, den := common(e[0], e[1])
		return fraction(f(a, b), den)
	})
}

func elemsUnary(in []*ir.Value, out ir.Type, f func(ir.Ratio) (ir.Ratio, bool)) []ir.Ratio {
	return elemsBroadcast(in, out, func(e []ir.Ratio) (ir.Ratio, bool) { return f(e[0]) })
}

// common returns two ratios as x/den and y/den, with a common denominator.
func common(a, b ir.Ratio) (x, y dim.Dim, den int) {
	if a.Den == b.Den {
		return a.Num, b.Num, a.Den
	}
	return a.Num.Mul(dim.Const(b.Den)), b.Num.Mul(dim.Const(a.Den)), a.Den * b.Den
}

// maxDen is the largest denominator of a known element. An element with a larger one counts as unknown. The product
// of two such denominators fits an int on every machine.
const maxDen = 1 << 12

// fraction returns num/den. It cancels den if den divides num, and otherwise common factors of two. It returns
// false if the denominator that is left exceeds [maxDen].
func fraction(num dim.Dim, den int) (ir.Ratio, bool) {
	if q, ok := num.DivExact(dim.Const(den)); ok {
		return ir.Ratio{Num: q, Den: 1}, true
	}
	for den%2 == 0 {
		q, ok := num.DivExact(dim.Const(2))
		if !ok {
			break
		}
		num, den = q, den/2
	}
	return ir.Ratio{Num: num, Den: den}, den <= maxDen
}

func integer(d dim.Dim) ir.Ratio { return ir.Ratio{Num: d, Den: 1} }

func truth(b bool) ir.Ratio {
	if b {
		return integer(dim.Const(1))
	}
	return integer(dim.Const(0))
}

// holds reports whether an element type can hold r. A constant is checked exactly. An expression of symbols is
// assumed to fit types of at least 32 bits, and no others. An unsigned type can hold an expression only if it is
// provably never negative.
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
