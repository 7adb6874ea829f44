package dim

import "slices"

// NonNegative reports whether d is provably ≥ 0 for all symbols ≥ 0.
func (d Dim) NonNegative() bool {
	lo, _ := d.interval()
	if lo < 0 {
		lo = d.lower(new(maxBoundSteps))
	}
	return lo >= 0
}

// Bounds returns provable inclusive bounds of d for all symbols ≥ 0. Unknown bounds are
// [math.MinInt64] and [math.MaxInt64].
func (d Dim) Bounds() (lo, hi int64) {
	return d.lower(new(maxBoundSteps)), satNeg(d.Neg().lower(new(maxBoundSteps)))
}

// maxBoundSteps limits the work for one bound. It is the largest number of calls of [Dim.lower] that replace atoms;
// further calls return the lower bound of [Dim.interval].
const maxBoundSteps = 16

// interval returns bounds of d, computed from the bounds of its atoms as if these were independent.
func (d Dim) interval() (lo, hi int64) {
	if d.p == nil {
		return d.c, d.c
	}
	if d.p.fault != noFault {
		return negInf, posInf
	}
	for _, t := range d.p.terms {
		l, h := t.k, t.k
		for _, a := range t.atoms {
			w, x, y, z := satMul(l, a.lo), satMul(l, a.hi), satMul(h, a.lo), satMul(h, a.hi)
			l, h = min(w, x, y, z), max(w, x, y, z)
		}
		lo, hi = satAdd(lo, l, negInf), satAdd(hi, h, posInf)
	}
	return lo, hi
}

// lower returns a lower bound of d. It may be better than the bound of the method interval. lower replaces a floor,
// min or max by a bound that cancels against other terms: N − 2·floor(N/2) ≥ N − N. steps is the number of recursive
// calls that are left.
func (d Dim) lower(steps *int) int64 {
	best, _ := d.interval()
	if *steps--; *steps < 0 {
		return best
	}
	for i, t := range d.terms() {
		for j, a := range t.atoms {
			others := slices.Concat(t.atoms[:j], t.atoms[j+1:])
			if a.op == opSym || slices.ContainsFunc(others, (*atom).signed) {
				continue
			}
			rest, scale := d.withoutTerm(i), term{t.k, others}
			replaced := lowerExtreme
			if a.op == opFloor {
				replaced = lowerFloor
			}
			if lo := replaced(rest, scale, a, steps); lo > best {
				return lo
			}
		}
	}
	return best
}

// lowerExtreme returns a lower bound of rest + scale·a, where the atom a is a min or max. steps is as in [Dim.lower].
func lowerExtreme(rest Dim, scale term, a *atom, steps *int) int64 {
	pick := pickOf((a.op == opMax) == (scale.k > 0))
	best := rest.Add(a.args[0].times(scale)).lower(steps)
	for _, x := range a.args[1:] {
		best = pick(best, rest.Add(x.times(scale)).lower(steps))
	}
	return best
}

// lowerFloor returns a lower bound of rest + scale·a, where the atom a is floor(p/q). It uses the bounds of a. If q
// is a product k·u, with an integer k and a product u of atoms, it also uses the bounds p − q < q·floor(p/q) ≤ p.
// steps is as in [Dim.lower].
func lowerFloor(rest Dim, scale term, a *atom, steps *int) int64 {
	best, end := int64(negInf), a.lo
	if scale.k < 0 {
		end = a.hi
	}
	if end != negInf && end != posInf {
		best = rest.Add(Dim{c: end}.times(scale)).lower(steps)
	}
	p, q := a.args[0], a.args[1]
	if len(q.terms()) > 1 {
		return best
	}
	div := q.terms()[0]
	left, ok := withoutAtoms(scale.atoms, div.atoms)
	if !ok {
		return best
	}
	if scale.k > 0 {
		p = p.Sub(q).Add(Dim{c: 1})
	}
	sum := rest.times(term{k: div.k}).Add(p.times(term{scale.k, left}))
	lo := sum.lower(steps)
	if lo == negInf {
		return best
	}
	n := lo / div.k
	if lo%div.k > 0 {
		n++
	}
	return max(best, n)
}
