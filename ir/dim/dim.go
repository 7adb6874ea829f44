// Package dim implements symbolic integers, in which extents of tensors, offsets and sizes are
// computed before a model runs.
package dim

import (
	"math"
	"slices"
)

// Dim is a symbolic integer: the extent of a tensor, an offset, a count. It is immutable and always
// in canonical form, a sum of integer multiples of sorted products of atoms. An atom is a symbol,
// floor(p/q), min(…) or max(…). Symbols stand for integers ≥ 0. The zero Dim is the constant 0.
//
// A simplification may remove a division by zero: N*C/C becomes N, which is also defined for C = 0.
// It does not change the value anywhere else.
//
// Arithmetic that overflows int64, divides by the constant 0 or exceeds a size limit gives a
// poisoned Dim. Every operation on a poisoned Dim is poisoned too; see [Dim.Err].
type Dim struct {
	_ [0]func() // keeps == from comparing pointers
	c int64     // the value of a constant, which has no p
	p *poly
}

// poly is a Dim that is not a constant. Its terms descend in degree, with the constant term last,
// so that products of sorted sums are sorted.
type poly struct {
	terms []term
	fault fault
	size  int // atoms, nested ones included
	depth int
}

type term struct {
	k     int64
	atoms []*atom // sorted, repeated for powers
}

type atom struct {
	op     operator
	name   string // of a symbol
	args   []Dim  // numerator and divisor, or two and more arguments: sorted, a constant last
	lo, hi int64  // bounds of its value
	size   int
	depth  int
}

type operator uint8

const (
	opSym operator = iota
	opFloor
	opMin
	opMax
)

func (a *atom) signed() bool { return a.lo < 0 }

// Limits on one expression. An expression that exceeds them is poisoned.
const (
	maxSize     = 128  // atoms
	maxDepth    = 32   // nesting of atoms
	maxArgs     = 16   // arguments of min and max
	maxProducts = 1024 // terms in one multiplication
)

const (
	negInf = math.MinInt64
	posInf = math.MaxInt64
)

// Const returns the constant n as a Dim.
func Const(n int) Dim { return Dim{c: int64(n)} }

// Const64 returns the constant n as a Dim.
func Const64(n int64) Dim { return Dim{c: n} }

// Sym returns the symbol called name. The result is poisoned unless the name matches
// [A-Za-z_][A-Za-z0-9_.]* and is not a word that [IsReserved] reports.
func Sym(name string) Dim {
	if !isName(name) || IsReserved(name) {
		return poison(badSymbol)
	}
	return symbol(name)
}

func symbol(name string) Dim {
	s := &struct {
		poly  poly
		terms [1]term
		atoms [1]*atom
		atom  atom
	}{}
	s.atom = atom{op: opSym, name: name, hi: posInf, size: 1, depth: 1}
	s.atoms[0] = &s.atom
	s.terms[0] = term{k: 1, atoms: s.atoms[:]}
	s.poly = poly{terms: s.terms[:], size: 1, depth: 1}
	return Dim{p: &s.poly}
}

func isName(s string) bool {
	for i := range len(s) {
		if !isNameByte(s[i]) {
			return false
		}
	}
	return s != "" && s[0] != '.' && (s[0] < '0' || s[0] > '9')
}

func isNameByte(c byte) bool {
	return c == '_' || c == '.' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// IsConst reports whether d is a constant.
func (d Dim) IsConst() bool { return d.p == nil }

// Int returns the value of a constant. It reports false if d is not a constant or does not fit an
// int.
func (d Dim) Int() (int, bool) { return int(d.c), d.p == nil && int64(int(d.c)) == d.c }

// Int64 returns the value of a constant. It reports false if d is not a constant.
func (d Dim) Int64() (int64, bool) { return d.c, d.p == nil }

// Linear splits d into coef·sym + rest, where coef and rest do not contain sym. It reports false if
// d is not linear in sym.
func (d Dim) Linear(sym string) (coef, rest Dim, ok bool) {
	if d.Overflow() {
		return Dim{}, Dim{}, false
	}
	var with, without []term
	for _, t := range d.terms() {
		var left []*atom
		for _, a := range t.atoms {
			switch {
			case a.op == opSym && a.name == sym:
			case slices.Contains(a.symbols(nil), sym):
				return Dim{}, Dim{}, false
			default:
				left = append(left, a)
			}
		}
		switch len(t.atoms) - len(left) {
		case 0:
			without = append(without, t)
		case 1:
			with = append(with, term{t.k, left})
		default:
			return Dim{}, Dim{}, false
		}
	}
	return sumOf(with...), sumOf(without...), true
}

// Symbols returns the names of the symbols in d, sorted.
func (d Dim) Symbols() []string {
	names := d.symbols(nil)
	slices.Sort(names)
	return slices.Compact(names)
}

func (d Dim) symbols(names []string) []string {
	for _, t := range d.terms() {
		for _, a := range t.atoms {
			names = a.symbols(names)
		}
	}
	return names
}

func (a *atom) symbols(names []string) []string {
	if a.op == opSym {
		return append(names, a.name)
	}
	for _, d := range a.args {
		names = d.symbols(names)
	}
	return names
}

// Any is an extent of a container's elements that may differ between elements. It prints as "?" and
// must not be used in arithmetic.
var Any = symbol("?")
