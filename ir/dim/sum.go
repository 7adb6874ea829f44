package dim

import "slices"

// terms returns the terms of d, the constant one included.
func (d Dim) terms() []term {
	switch {
	case d.p != nil:
		return d.p.terms
	case d.c != 0:
		return []term{{k: d.c}}
	}
	return nil
}

// Size returns the number of atoms in d, including nested ones.
func (d Dim) Size() int {
	if d.p == nil {
		return 0
	}
	return d.p.size
}

// sumOf returns the sum of sorted terms with distinct products and nonzero coefficients.
func sumOf(terms ...term) Dim {
	if len(terms) == 0 {
		return Dim{}
	}
	if len(terms) == 1 && len(terms[0].atoms) == 0 {
		return Dim{c: terms[0].k}
	}
	p := &poly{terms: terms}
	for _, t := range terms {
		for _, a := range t.atoms {
			p.size += a.size
			p.depth = max(p.depth, a.depth)
		}
	}
	if p.size > maxSize || p.depth > maxDepth {
		return poison(tooComplex)
	}
	return Dim{p: p}
}

// Add returns d + e.
func (d Dim) Add(e Dim) Dim {
	switch f := max(d.fault(), e.fault()); {
	case f != noFault:
		return poison(f)
	case d.p == nil && e.p == nil:
		return checked(add64(d.c, e.c))
	case d.p == nil && d.c == 0:
		return e
	case e.p == nil && e.c == 0:
		return d
	}
	x, y := d.terms(), e.terms()
	sum := make([]term, 0, len(x)+len(y))
	for len(x) > 0 && len(y) > 0 {
		switch c := compareAtoms(x[0].atoms, y[0].atoms); {
		case c < 0:
			sum, x = append(sum, x[0]), x[1:]
		case c > 0:
			sum, y = append(sum, y[0]), y[1:]
		default:
			k, ok := add64(x[0].k, y[0].k)
			if !ok {
				return poison(overflow)
			}
			if k != 0 {
				sum = append(sum, term{k, x[0].atoms})
			}
			x, y = x[1:], y[1:]
		}
	}
	return sumOf(append(append(sum, x...), y...)...)
}

// Sub returns d − e.
func (d Dim) Sub(e Dim) Dim {
	if d.p == nil && e.p == nil {
		return checked(sub64(d.c, e.c))
	}
	return d.Add(e.Neg())
}

// Neg returns −d.
func (d Dim) Neg() Dim {
	if d.p == nil {
		return checked(sub64(0, d.c))
	}
	return d.times(term{k: -1})
}

// Mul returns d · e.
func (d Dim) Mul(e Dim) Dim {
	if d.p == nil && e.p == nil {
		return checked(mul64(d.c, e.c))
	}
	if f := max(d.fault(), e.fault()); f != noFault {
		return poison(f)
	}
	x, y := d.terms(), e.terms()
	if len(x)*len(y) > maxProducts {
		return poison(tooComplex)
	}
	var sum Dim
	for _, t := range x {
		sum = sum.Add(e.times(t))
	}
	return sum
}

// times returns d·t. Multiplying every term by t keeps the terms sorted.
func (d Dim) times(t term) Dim {
	if d.fault() != noFault || t.k == 1 && len(t.atoms) == 0 {
		return d
	}
	product := slices.Clone(d.terms())
	for i, s := range product {
		k, ok := mul64(s.k, t.k)
		if !ok {
			return poison(overflow)
		}
		if len(s.atoms)+len(t.atoms) > maxSize {
			return poison(tooComplex)
		}
		product[i] = term{k, joinAtoms(s.atoms, t.atoms)}
	}
	return sumOf(product...)
}

// joinAtoms returns the product of the products x and y. The atoms of both, and of the result, are sorted.
func joinAtoms(x, y []*atom) []*atom {
	if len(x) == 0 {
		return y
	}
	if len(y) == 0 {
		return x
	}
	all := slices.Concat(x, y)
	slices.SortStableFunc(all, compareAtom)
	return all
}

// withoutAtoms returns the product x divided by the product y, and whether y divides x. The atoms
// of both are sorted in the same order.
func withoutAtoms(x, y []*atom) ([]*atom, bool) {
	if len(y) == 0 {
		return x, true
	}
	var left []*atom
	for _, a := range x {
		if len(y) > 0 && compareAtom(a, y[0]) == 0 {
			y = y[1:]
		} else {
			left = append(left, a)
		}
	}
	return left, len(y) == 0
}
