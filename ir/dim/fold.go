package dim

import (
	"math"
	"slices"
)

// Algebra is the target of [Fold]: it builds source text, a value or another Dim from the parts of
// a Dim. A divisor is never the constant 0, and Min and Max get at least two arguments.
type Algebra[T any] interface {
	Const(n int64) T
	Sym(name string) T
	Add(a, b T) T
	Sub(a, b T) T
	Mul(a, b T) T
	FloorDiv(a, b T) T // rounds towards −∞
	Min(args ...T) T
	Max(args ...T) T
}

// Fold builds the value of d in the algebra `alg` from the values of its parts. A sum starts with a positive term if
// it has one, and subtracts the magnitudes of negative terms. If d is poisoned, Fold returns the error d.Err().
func Fold[T any](d Dim, alg Algebra[T]) (T, error) {
	if d.Overflow() {
		var zero T
		return zero, d.Err()
	}
	return fold(d, alg), nil
}

func fold[T any](d Dim, alg Algebra[T]) T {
	terms := d.terms()
	if len(terms) == 0 {
		return alg.Const(0)
	}
	first := max(0, slices.IndexFunc(terms, func(t term) bool { return t.k > 0 }))
	sum := foldTerm(terms[first], alg)
	for i, t := range terms {
		switch {
		case i == first:
		case t.k < 0 && t.k != math.MinInt64:
			sum = alg.Sub(sum, foldTerm(term{-t.k, t.atoms}, alg))
		default:
			sum = alg.Add(sum, foldTerm(t, alg))
		}
	}
	return sum
}

func foldTerm[T any](t term, alg Algebra[T]) T {
	if len(t.atoms) == 0 {
		return alg.Const(t.k)
	}
	product := foldAtom(t.atoms[0], alg)
	if t.k != 1 {
		product = alg.Mul(alg.Const(t.k), product)
	}
	for _, a := range t.atoms[1:] {
		product = alg.Mul(product, foldAtom(a, alg))
	}
	return product
}

func foldAtom[T any](a *atom, alg Algebra[T]) T {
	if a.op == opSym {
		return alg.Sym(a.name)
	}
	args := make([]T, len(a.args))
	for i, d := range a.args {
		args[i] = fold(d, alg)
	}
	switch a.op {
	case opFloor:
		return alg.FloorDiv(args[0], args[1])
	case opMin:
		return alg.Min(args...)
	}
	return alg.Max(args...)
}
