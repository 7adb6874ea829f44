package dim

import (
	"cmp"
	"slices"
)

// Equal reports whether d and e have the same canonical form. [Dim.Same] also proves some
// equalities of different forms.
func (d Dim) Equal(e Dim) bool { return d.Compare(e) == 0 }

// Same reports whether d and e are provably equal for all values of their symbols.
func (d Dim) Same(e Dim) bool {
	if d.Equal(e) {
		return true
	}
	lo, hi := d.Sub(e).Bounds()
	return lo == 0 && hi == 0
}

// Compare compares canonical forms for sorting: constants by value, then symbolic expressions, then
// poisoned ones. The order does not depend on the values of symbols.
func (d Dim) Compare(e Dim) int {
	if d.p == nil || e.p == nil {
		switch {
		case d.p != nil:
			return 1
		case e.p != nil:
			return -1
		}
		return cmp.Compare(d.c, e.c)
	}
	if d.p == e.p {
		return 0
	}
	if c := cmp.Compare(d.p.fault, e.p.fault); c != 0 {
		return c
	}
	return slices.CompareFunc(d.p.terms, e.p.terms, func(s, t term) int {
		if c := compareAtoms(s.atoms, t.atoms); c != 0 {
			return c
		}
		return cmp.Compare(s.k, t.k)
	})
}

// compareAtoms compares two products for sorting: by degree, the highest first, and then by their
// atoms. The order does not change if both are multiplied by the same product.
func compareAtoms(x, y []*atom) int {
	if c := cmp.Compare(len(y), len(x)); c != 0 {
		return c
	}
	return slices.CompareFunc(x, y, compareAtom)
}

func compareAtom(a, b *atom) int {
	if a == b {
		return 0
	}
	if c := cmp.Compare(a.op, b.op); c != 0 {
		return c
	}
	if c := cmp.Compare(a.name, b.name); c != 0 {
		return c
	}
	return slices.CompareFunc(a.args, b.args, Dim.Compare)
}
