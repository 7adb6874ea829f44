package dim

import "slices"

// FloorDiv returns d / e rounded towards −∞.
func (d Dim) FloorDiv(e Dim) Dim {
	switch f := max(d.fault(), e.fault()); {
	case f != noFault:
		return poison(f)
	case e.p == nil && e.c == 0:
		return poison(zeroDivisor)
	case d.p == nil && e.p == nil:
		return checked(floor64(d.c, e.c))
	}
	return floored(d, e)
}

// CeilDiv returns d / e rounded towards +∞, which is −floor(−d/e).
func (d Dim) CeilDiv(e Dim) Dim { return d.Neg().FloorDiv(e).Neg() }

// Mod returns d − e·floor(d/e), which is 0 or has the sign of e.
func (d Dim) Mod(e Dim) Dim {
	a, aConst := d.Int64()
	b, bConst := e.Int64()
	if aConst && bConst && b != 0 {
		r := a % b
		if r != 0 && (r < 0) != (b < 0) {
			r += b
		}
		return Dim{c: r}
	}
	return d.Sub(e.Mul(d.FloorDiv(e)))
}

// floored brings floor(p/q) to canonical form. It starts over on the simpler quotient after each rule that applies. A
// quotient that no rule changes is an atom.
func floored(p, q Dim) Dim {
	if p.Overflow() || q.Overflow() {
		return poison(max(p.fault(), q.fault()))
	}
	if len(p.terms()) == 0 {
		return Dim{}
	}
	if q.terms()[0].k < 0 {
		return floored(p.Neg(), q.Neg())
	}
	if b, ok := q.Int64(); ok && b == 1 {
		return p
	}
	lo, _ := q.interval()
	positive := lo >= 0 // 0 if there is no quotient
	if k, atoms := content(p, q, positive); k > 1 || len(atoms) > 0 {
		return floored(p.reduced(k, atoms), q.reduced(k, atoms))
	}
	if whole, rest := wholePart(p, q); len(whole.terms()) > 0 {
		return whole.Add(floored(rest, q))
	}
	if positive {
		if p.terms()[0].k < 0 {
			if r := q.Sub(Dim{c: 1}).Sub(p); !r.Overflow() {
				return floored(r, q).Neg()
			}
		}
		if num, den, ok := nestedFloor(p, q); ok {
			return floored(num, den)
		}
	}
	return floorAtom(p, q)
}

// content returns the largest number, and the largest product of atoms, that can be cancelled in floor(p/q). Both
// divide all terms of p and q. If q > 0, which the parameter positive says, there are two exceptions:
//
//   - The number need not divide the constant term of p: floor((2x+1)/4) is floor(x/2).
//   - The product need not divide the constant term of p if that is −1 and the atoms are ≥ 0: floor((N·x−1)/(N·y)) is
//     floor((x−1)/y).
func content(p, q Dim, positive bool) (int64, []*atom) {
	all := slices.Concat(q.terms(), p.terms())
	var k uint64
	common := all[0].atoms
	signed := slices.ContainsFunc(common, (*atom).signed)
	for i, t := range all {
		rounds := positive && i >= len(q.terms()) && len(t.atoms) == 0
		if !rounds {
			k = gcd(k, magnitude(t.k))
		}
		if !rounds || t.k != -1 || signed {
			common = commonAtoms(common, t.atoms)
		}
	}
	return int64(k), common
}

// commonAtoms returns the largest product that divides x and y.
func commonAtoms(x, y []*atom) []*atom {
	var both []*atom
	for len(x) > 0 && len(y) > 0 {
		switch c := compareAtom(x[0], y[0]); {
		case c < 0:
			x = x[1:]
		case c > 0:
			y = y[1:]
		default:
			both, x, y = append(both, x[0]), x[1:], y[1:]
		}
	}
	return both
}

// reduced divides d by k·u, where u is the product of atoms. k·u must divide all terms of d except the constant term.
// The constant term is divided by k only, and rounded down.
func (d Dim) reduced(k int64, atoms []*atom) Dim {
	var out []term
	var constant Dim
	for _, t := range d.terms() {
		n, _ := floor64(t.k, k)
		if len(t.atoms) == 0 {
			constant.c = n
			continue
		}
		left, _ := withoutAtoms(t.atoms, atoms)
		out = append(out, term{n, left})
	}
	return sumOf(out...).Add(constant)
}

// wholePart splits p into whole·q + rest. If q is one term k·u, with an integer k and a product u, each term c·u·v of
// p gives the term (c/k)·v of whole. c/k is rounded towards zero, but it is rounded down for the constant term of p.
// If q is a sum, whole is p/q if the division is exact, and 0 otherwise.
func wholePart(p, q Dim) (whole, rest Dim) {
	if len(q.terms()) > 1 {
		if x, ok := p.DivExact(q); ok {
			return x, Dim{}
		}
		return Dim{}, p
	}
	div := q.terms()[0]
	var in, out []term
	for _, t := range p.terms() {
		left, ok := withoutAtoms(t.atoms, div.atoms)
		if ok {
			n := t.k / div.k
			if len(t.atoms) == 0 {
				n, _ = floor64(t.k, div.k)
			}
			if n != 0 {
				in = append(in, term{n, left})
				t.k -= n * div.k
			}
		}
		if t.k != 0 {
			out = append(out, t)
		}
	}
	return sumOf(in...), sumOf(out...)
}

// nestedFloor returns a simpler quotient num/den whose floor is floor(p/q). q must be positive. For example,
// floor((floor(x/a)+y)/q) is floor((x+a·y)/(a·q)). ok is true if p has exactly one floor, if this floor is a term of
// p without factors, and if q and a are products. ok is false for other p and q, and if num or den overflows.
func nestedFloor(p, q Dim) (num, den Dim, ok bool) {
	inner := -1
	for i, t := range p.terms() {
		for _, a := range t.atoms {
			if a.op != opFloor {
				continue
			}
			if inner >= 0 || t.k != 1 || len(t.atoms) != 1 {
				return Dim{}, Dim{}, false
			}
			inner = i
		}
	}
	if inner < 0 {
		return Dim{}, Dim{}, false
	}
	args := p.p.terms[inner].atoms[0].args
	if len(q.terms()) != 1 || len(args[1].terms()) != 1 {
		return Dim{}, Dim{}, false
	}
	y := p.withoutTerm(inner)
	num, den = args[0].Add(args[1].Mul(y)), args[1].Mul(q)
	return num, den, !num.Overflow() && !den.Overflow()
}

func (d Dim) withoutTerm(i int) Dim {
	return sumOf(slices.Concat(d.p.terms[:i], d.p.terms[i+1:])...)
}

// floorAtom returns floor(p/q) as an atom, or a constant if its bounds are equal.
func floorAtom(p, q Dim) Dim {
	lo, hi := p.Bounds()
	qlo, qhi := q.interval()
	if qlo >= 0 {
		qlo, qhi = max(qlo, 1), max(qhi, 1)
		lo, hi = quotientLo(lo, qlo, qhi), quotientHi(hi, qlo, qhi)
	} else if lo != negInf && hi != posInf {
		hi = max(satNeg(lo), hi, satNeg(hi), lo)
		lo = satNeg(hi)
	} else {
		lo, hi = negInf, posInf
	}
	return ofAtom(atom{op: opFloor, args: []Dim{p, q}, lo: lo, hi: hi})
}

// quotientLo returns a lower bound of p/q for p ≥ lo and 1 ≤ qlo ≤ q ≤ qhi.
func quotientLo(lo, qlo, qhi int64) int64 {
	switch {
	case lo == negInf:
		return negInf
	case lo < 0:
		n, _ := floor64(lo, qlo)
		return n
	case qhi == posInf:
		return 0
	}
	return lo / qhi
}

// quotientHi returns an upper bound of floor(p/q) for p ≤ hi and 1 ≤ qlo ≤ q ≤ qhi.
func quotientHi(hi, qlo, qhi int64) int64 {
	switch {
	case hi == posInf:
		return posInf
	case hi >= 0:
		return hi / qlo
	case qhi == posInf:
		return -1
	}
	n, _ := floor64(hi, qhi)
	return n
}

func ofAtom(a atom) Dim {
	if a.lo == a.hi && a.lo != negInf && a.lo != posInf {
		return Dim{c: a.lo}
	}
	a.size, a.depth = 1, 1
	for _, d := range a.args {
		if d.p != nil {
			a.size += d.p.size
			a.depth = max(a.depth, d.p.depth+1)
		}
	}
	return sumOf(term{1, []*atom{&a}})
}

// DivExact returns d / e. It reports false unless e divides d as a polynomial in the atoms of d.
func (d Dim) DivExact(e Dim) (Dim, bool) {
	by := e.terms()
	if d.Overflow() || e.Overflow() || len(by) == 0 {
		return Dim{}, false
	}
	lead, rest := by[0], d
	var quotient []term
	for len(rest.terms()) > 0 {
		top := rest.terms()[0]
		atoms, ok := withoutAtoms(top.atoms, lead.atoms)
		k, fits := floor64(top.k, lead.k)
		if !ok || !fits || k*lead.k != top.k || len(quotient) > maxSize {
			return Dim{}, false
		}
		t := term{k, atoms}
		quotient = append(quotient, t)
		if rest = rest.Sub(e.times(t)); rest.Overflow() {
			return Dim{}, false
		}
	}
	q := sumOf(quotient...)
	return q, !q.Overflow()
}
