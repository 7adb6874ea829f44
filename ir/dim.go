package ir

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// Dim is a symbolic integer: the extent of a tensor, an offset, a count. It is
// immutable and always in canonical form, a sum of integer multiples of sorted
// products of atoms, where an atom is a symbol, floor(p/q), min(…) or max(…).
// Symbols stand for integers ≥ 0. The zero Dim is the constant 0.
//
// A simplification may extend an expression to symbol values at which it
// divides by zero (N*C/C is N), and changes its value nowhere else.
//
// Arithmetic that leaves int64, divides by the constant 0 or grows beyond a
// fixed size gives a poisoned Dim, which absorbs whatever it meets; see
// [Dim.Err].
type Dim struct {
	_ [0]func() // keeps == from comparing pointers
	c int64     // the value of a constant, which has no p
	p *dimPoly
}

// dimPoly is anything but a constant. Its terms descend in degree, the
// constant term last, so that products of sorted sums come out sorted.
type dimPoly struct {
	terms []dimTerm
	fault dimFault
	size  int // atoms, nested ones included
	depth int
}

type dimTerm struct {
	k     int64
	atoms []*dimAtom // sorted, repeated for powers
}

type dimAtom struct {
	op     dimOp
	name   string // of a symbol
	args   []Dim  // numerator and divisor, or two and more arguments: sorted, a constant last
	lo, hi int64
	size   int
	depth  int
}

type dimOp uint8

const (
	dimSym dimOp = iota
	dimFloor
	dimMin
	dimMax
)

// signed reports whether a may be negative, as far as its bounds tell.
func (a *dimAtom) signed() bool { return a.lo < 0 }

// Limits on one expression; what exceeds them is poison.
const (
	maxDimSize     = 128  // atoms
	maxDimDepth    = 32   // of nested atoms
	maxDimArgs     = 16   // of min and max
	maxDimProducts = 1024 // of terms in one multiplication
)

// Unknown bounds.
const (
	negInf = math.MinInt64
	posInf = math.MaxInt64
)

type dimFault uint8

const (
	dimOK dimFault = iota
	dimBadSymbol
	dimTooComplex
	dimZeroDivisor
	dimOverflow
)

// dimFaults holds what a poisoned Dim prints, which no symbol may be named,
// and its error.
var dimFaults = [...]struct {
	word string
	err  error
}{
	dimOK:          {},
	dimBadSymbol:   {"bad_symbol", errors.New("dim: symbol name is not an identifier")},
	dimTooComplex:  {"too_complex", errors.New("dim: expression is too complex")},
	dimZeroDivisor: {"zero_divisor", errors.New("dim: division by zero")},
	dimOverflow:    {"overflow", errors.New("dim: integer overflow")},
}

func poisonDim(f dimFault) Dim { return Dim{p: &dimPoly{fault: f}} }

// Const returns the constant n.
func Const(n int) Dim { return Dim{c: int64(n)} }

// Const64 returns the constant n.
func Const64(n int64) Dim { return Dim{c: n} }

// Sym returns the symbol name, which must match [A-Za-z_][A-Za-z0-9_.]* and
// not be one of the words that poisoned Dims print.
func Sym(name string) Dim {
	if !isDimName(name) || dimFaultNamed(name) != dimOK {
		return poisonDim(dimBadSymbol)
	}
	return symbol(name)
}

func symbol(name string) Dim {
	s := &struct {
		poly  dimPoly
		terms [1]dimTerm
		atoms [1]*dimAtom
		atom  dimAtom
	}{}
	s.atom = dimAtom{op: dimSym, name: name, hi: posInf, size: 1, depth: 1}
	s.atoms[0] = &s.atom
	s.terms[0] = dimTerm{k: 1, atoms: s.atoms[:]}
	s.poly = dimPoly{terms: s.terms[:], size: 1, depth: 1}
	return Dim{p: &s.poly}
}

func isDimName(s string) bool {
	for i := range len(s) {
		if !isDimByte(s[i]) {
			return false
		}
	}
	return s != "" && s[0] != '.' && (s[0] < '0' || s[0] > '9')
}

func isDimByte(c byte) bool {
	return c == '_' || c == '.' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func dimFaultNamed(word string) dimFault {
	for f := dimBadSymbol; f <= dimOverflow; f++ {
		if dimFaults[f].word == word {
			return f
		}
	}
	return dimOK
}

func (d Dim) fault() dimFault {
	if d.p == nil {
		return dimOK
	}
	return d.p.fault
}

// Err returns nil, or why d is poisoned.
func (d Dim) Err() error { return dimFaults[d.fault()].err }

// Overflow reports whether d is poisoned, for any of the reasons of [Dim.Err].
func (d Dim) Overflow() bool { return d.fault() != dimOK }

// IsConst reports whether d is a constant.
func (d Dim) IsConst() bool { return d.p == nil }

// Int returns the value of a constant that fits an int.
func (d Dim) Int() (int, bool) { return int(d.c), d.p == nil && int64(int(d.c)) == d.c }

// Int64 returns the value of a constant.
func (d Dim) Int64() (int64, bool) { return d.c, d.p == nil }

// Equal reports whether d and e have the same canonical form. [Dim.Same] also
// proves some equalities of different forms.
func (d Dim) Equal(e Dim) bool { return d.Compare(e) == 0 }

// Same reports whether d and e are provably equal whatever their symbols are.
func (d Dim) Same(e Dim) bool {
	if d.Equal(e) {
		return true
	}
	lo, hi := d.Sub(e).Bounds()
	return lo == 0 && hi == 0
}

// Compare orders canonical forms: constants by value, then symbolic
// expressions, then poison. It says nothing about the values of symbols.
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
	return slices.CompareFunc(d.p.terms, e.p.terms, func(s, t dimTerm) int {
		if c := compareAtoms(s.atoms, t.atoms); c != 0 {
			return c
		}
		return cmp.Compare(s.k, t.k)
	})
}

// compareAtoms orders products: higher degree first, then by their atoms. The
// order survives multiplication of both sides by the same product.
func compareAtoms(x, y []*dimAtom) int {
	if c := cmp.Compare(len(y), len(x)); c != 0 {
		return c
	}
	return slices.CompareFunc(x, y, compareAtom)
}

func compareAtom(a, b *dimAtom) int {
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

// terms returns the terms of d, the constant one included.
func (d Dim) terms() []dimTerm {
	switch {
	case d.p != nil:
		return d.p.terms
	case d.c != 0:
		return []dimTerm{{k: d.c}}
	}
	return nil
}

// size returns the number of atoms in d, nested ones included.
func (d Dim) size() int {
	if d.p == nil {
		return 0
	}
	return d.p.size
}

// sumOf returns the sum of sorted terms with distinct products and non-zero
// coefficients.
func sumOf(terms ...dimTerm) Dim {
	if len(terms) == 0 {
		return Dim{}
	}
	if len(terms) == 1 && len(terms[0].atoms) == 0 {
		return Dim{c: terms[0].k}
	}
	p := &dimPoly{terms: terms}
	for _, t := range terms {
		for _, a := range t.atoms {
			p.size += a.size
			p.depth = max(p.depth, a.depth)
		}
	}
	if p.size > maxDimSize || p.depth > maxDimDepth {
		return poisonDim(dimTooComplex)
	}
	return Dim{p: p}
}

// Add returns d + e.
func (d Dim) Add(e Dim) Dim {
	switch f := max(d.fault(), e.fault()); {
	case f != dimOK:
		return poisonDim(f)
	case d.p == nil && e.p == nil:
		return constDim(add64(d.c, e.c))
	case d.p == nil && d.c == 0:
		return e
	case e.p == nil && e.c == 0:
		return d
	}
	x, y := d.terms(), e.terms()
	sum := make([]dimTerm, 0, len(x)+len(y))
	for len(x) > 0 && len(y) > 0 {
		switch c := compareAtoms(x[0].atoms, y[0].atoms); {
		case c < 0:
			sum, x = append(sum, x[0]), x[1:]
		case c > 0:
			sum, y = append(sum, y[0]), y[1:]
		default:
			k, ok := add64(x[0].k, y[0].k)
			if !ok {
				return poisonDim(dimOverflow)
			}
			if k != 0 {
				sum = append(sum, dimTerm{k, x[0].atoms})
			}
			x, y = x[1:], y[1:]
		}
	}
	return sumOf(append(append(sum, x...), y...)...)
}

// Sub returns d − e.
func (d Dim) Sub(e Dim) Dim {
	if d.p == nil && e.p == nil {
		return constDim(sub64(d.c, e.c))
	}
	return d.Add(e.Neg())
}

// Neg returns −d.
func (d Dim) Neg() Dim {
	if d.p == nil {
		return constDim(sub64(0, d.c))
	}
	return d.times(dimTerm{k: -1})
}

// Mul returns d · e.
func (d Dim) Mul(e Dim) Dim {
	if d.p == nil && e.p == nil {
		return constDim(mul64(d.c, e.c))
	}
	if f := max(d.fault(), e.fault()); f != dimOK {
		return poisonDim(f)
	}
	x, y := d.terms(), e.terms()
	if len(x)*len(y) > maxDimProducts {
		return poisonDim(dimTooComplex)
	}
	var sum Dim
	for _, t := range x {
		sum = sum.Add(e.times(t))
	}
	return sum
}

// times multiplies every term of d by t, which keeps them sorted.
func (d Dim) times(t dimTerm) Dim {
	if d.fault() != dimOK || t.k == 1 && len(t.atoms) == 0 {
		return d
	}
	product := slices.Clone(d.terms())
	for i, s := range product {
		k, ok := mul64(s.k, t.k)
		if !ok {
			return poisonDim(dimOverflow)
		}
		if len(s.atoms)+len(t.atoms) > maxDimSize {
			return poisonDim(dimTooComplex)
		}
		product[i] = dimTerm{k, joinAtoms(s.atoms, t.atoms)}
	}
	return sumOf(product...)
}

// joinAtoms merges two sorted products.
func joinAtoms(x, y []*dimAtom) []*dimAtom {
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

// withoutAtoms divides the product x by the product y.
func withoutAtoms(x, y []*dimAtom) ([]*dimAtom, bool) {
	if len(y) == 0 {
		return x, true
	}
	var left []*dimAtom
	for _, a := range x {
		if len(y) > 0 && compareAtom(a, y[0]) == 0 {
			y = y[1:]
		} else {
			left = append(left, a)
		}
	}
	return left, len(y) == 0
}

// FloorDiv returns d / e rounded towards −∞.
func (d Dim) FloorDiv(e Dim) Dim {
	switch f := max(d.fault(), e.fault()); {
	case f != dimOK:
		return poisonDim(f)
	case e.p == nil && e.c == 0:
		return poisonDim(dimZeroDivisor)
	case d.p == nil && e.p == nil:
		return constDim(floor64(d.c, e.c))
	}
	return floorDim(d, e)
}

// CeilDiv returns d / e rounded towards +∞, which is −floor(−d/e).
func (d Dim) CeilDiv(e Dim) Dim { return d.Neg().FloorDiv(e).Neg() }

// Mod returns d − e·floor(d/e), which has the sign of e.
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

// floorDim brings floor(p/q) to canonical form. Each rule that applies starts
// over on a simpler quotient; a quotient that no rule changes is an atom.
func floorDim(p, q Dim) Dim {
	if p.Overflow() || q.Overflow() {
		return poisonDim(max(p.fault(), q.fault()))
	}
	if len(p.terms()) == 0 {
		return Dim{}
	}
	if q.terms()[0].k < 0 {
		return floorDim(p.Neg(), q.Neg())
	}
	if b, ok := q.Int64(); ok && b == 1 {
		return p
	}
	lo, _ := q.interval()
	positive := lo >= 0 // or 0, where there is no quotient
	if k, atoms := dimContent(p, q, positive); k > 1 || len(atoms) > 0 {
		return floorDim(p.reduced(k, atoms), q.reduced(k, atoms))
	}
	if whole, rest := wholeDim(p, q); len(whole.terms()) > 0 {
		return whole.Add(floorDim(rest, q))
	}
	if positive {
		if p.terms()[0].k < 0 {
			if r := q.Sub(Dim{c: 1}).Sub(p); !r.Overflow() {
				return floorDim(r, q).Neg()
			}
		}
		if num, den, ok := nestedFloor(p, q); ok {
			return floorDim(num, den)
		}
	}
	return floorAtom(p, q)
}

// dimContent returns the greatest number and product that cancel from
// floor(p/q). Over q > 0 the number need not divide the constant term of p:
// floor((2x+1)/4) is floor(x/2). Nor need the product, if that term is −1 and
// its atoms are ≥ 0: floor((N·x−1)/(N·y)) is floor((x−1)/y).
func dimContent(p, q Dim, positive bool) (int64, []*dimAtom) {
	all := slices.Concat(q.terms(), p.terms())
	var k uint64
	common := all[0].atoms
	signed := slices.ContainsFunc(common, (*dimAtom).signed)
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

// commonAtoms returns the greatest product that divides x and y.
func commonAtoms(x, y []*dimAtom) []*dimAtom {
	var both []*dimAtom
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

// reduced divides every term of d by k·atoms, rounding the constant one down.
func (d Dim) reduced(k int64, atoms []*dimAtom) Dim {
	var out []dimTerm
	var constant Dim
	for _, t := range d.terms() {
		n, _ := floor64(t.k, k)
		if len(t.atoms) == 0 {
			constant.c = n
			continue
		}
		left, _ := withoutAtoms(t.atoms, atoms)
		out = append(out, dimTerm{n, left})
	}
	return sumOf(out...).Add(constant)
}

// wholeDim splits p into whole·q + rest. Over a product k·u, whole takes the
// multiples of k from the terms that u divides, rounded towards zero, except
// that over a constant the constant term is rounded down. Over a sum it is p/q
// where that is exact.
func wholeDim(p, q Dim) (whole, rest Dim) {
	if len(q.terms()) > 1 {
		if x, ok := p.DivExact(q); ok {
			return x, Dim{}
		}
		return Dim{}, p
	}
	div := q.terms()[0]
	var in, out []dimTerm
	for _, t := range p.terms() {
		left, ok := withoutAtoms(t.atoms, div.atoms)
		if ok {
			n := t.k / div.k
			if len(t.atoms) == 0 {
				n, _ = floor64(t.k, div.k)
			}
			if n != 0 {
				in = append(in, dimTerm{n, left})
				t.k -= n * div.k
			}
		}
		if t.k != 0 {
			out = append(out, t)
		}
	}
	return sumOf(in...), sumOf(out...)
}

// nestedFloor rewrites floor((floor(x/a)+y)/q) as floor((x+a·y)/(a·q)), which
// holds for q > 0, where the inner floor is the only one and a and q are
// products.
func nestedFloor(p, q Dim) (num, den Dim, ok bool) {
	inner := -1
	for i, t := range p.terms() {
		for _, a := range t.atoms {
			if a.op != dimFloor {
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

// floorAtom returns floor(p/q) as it stands, unless its bounds meet.
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
	return atomDim(dimAtom{op: dimFloor, args: []Dim{p, q}, lo: lo, hi: hi})
}

// quotientLo bounds p/q from below for p ≥ lo and 1 ≤ qlo ≤ q ≤ qhi.
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

// quotientHi bounds floor(p/q) from above for p ≤ hi and 1 ≤ qlo ≤ q ≤ qhi.
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

// atomDim returns the atom a, or its value where its bounds leave only one.
func atomDim(a dimAtom) Dim {
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
	return sumOf(dimTerm{1, []*dimAtom{&a}})
}

// DivExact returns d / e where e divides d as a polynomial in its atoms, so
// that d is the product of the two.
func (d Dim) DivExact(e Dim) (Dim, bool) {
	by := e.terms()
	if d.Overflow() || e.Overflow() || len(by) == 0 {
		return Dim{}, false
	}
	lead, rest := by[0], d
	var quotient []dimTerm
	for len(rest.terms()) > 0 {
		top := rest.terms()[0]
		atoms, ok := withoutAtoms(top.atoms, lead.atoms)
		k, fits := floor64(top.k, lead.k)
		if !ok || !fits || k*lead.k != top.k || len(quotient) > maxDimSize {
			return Dim{}, false
		}
		t := dimTerm{k, atoms}
		quotient = append(quotient, t)
		if rest = rest.Sub(e.times(t)); rest.Overflow() {
			return Dim{}, false
		}
	}
	q := sumOf(quotient...)
	return q, !q.Overflow()
}

// Min returns the smaller of d and e.
func (d Dim) Min(e Dim) Dim { return extremeDim(dimMin, d, e) }

// Max returns the larger of d and e.
func (d Dim) Max(e Dim) Dim { return extremeDim(dimMax, d, e) }

// extremeDim joins the arguments of both sides and drops those that another
// one provably makes idle.
func extremeDim(op dimOp, d, e Dim) Dim {
	p, q := d.pushed(), e.pushed()
	x := plainExtreme(op, p, q)
	if args := x.argsOf(op); len(args) > 1 {
		if y, ok := distributed(op, args); ok {
			x = y
		}
	}
	switch {
	case x.Equal(p):
		return d
	case x.Equal(q):
		return e
	}
	return x
}

// plainExtreme is extremeDim but for what is rewritten.
func plainExtreme(op dimOp, d, e Dim) Dim {
	if f := max(d.fault(), e.fault()); f != dimOK {
		return poisonDim(f)
	}
	all := slices.Concat(d.argsOf(op), e.argsOf(op))
	slices.SortFunc(all, Dim.Compare)
	var args []Dim
	for _, x := range all {
		idle := slices.ContainsFunc(args, func(y Dim) bool { return idleBeside(op, x, y) })
		if !idle {
			args = slices.DeleteFunc(args, func(y Dim) bool { return idleBeside(op, y, x) })
			args = append(args, x)
		}
	}
	if len(args) == 1 {
		return args[0]
	}
	if len(args) > maxDimArgs {
		return poisonDim(dimTooComplex)
	}
	if args[0].IsConst() { // reads better at the end
		args = append(args[1:], args[0])
	}
	a := dimAtom{op: op, args: args}
	a.lo, a.hi = args[0].Bounds()
	pick := pickOf(op == dimMax)
	for _, x := range args[1:] {
		lo, hi := x.Bounds()
		a.lo, a.hi = pick(a.lo, lo), pick(a.hi, hi)
	}
	return atomDim(a)
}

// maxRewrite bounds the atoms of what is rewritten about min and max.
const maxRewrite = 24

// pushed returns d = rest ± min(…), or max, with the rest moved into the arguments
// where that makes it smaller: min(N+1,8) − N is min(1,8−N).
func (d Dim) pushed() Dim {
	if d.p == nil || len(d.p.terms) < 2 || d.p.size > maxRewrite {
		return d
	}
	at := slices.IndexFunc(d.p.terms, func(t dimTerm) bool {
		return (t.k == 1 || t.k == -1) && len(t.atoms) == 1 && t.atoms[0].op.isExtreme()
	})
	if at < 0 {
		return d
	}
	t, rest := d.p.terms[at], d.withoutTerm(at)
	op := t.atoms[0].op
	if t.k < 0 {
		op = op.opposite()
	}
	var out Dim
	for i, x := range t.atoms[0].args {
		if x = x.times(dimTerm{k: t.k}).Add(rest); i > 0 {
			x = plainExtreme(op, out, x)
		}
		out = x
	}
	if out.Overflow() || out.size() >= d.size() {
		return d
	}
	return out
}

// distributed returns op(args) with op moved into an argument of the opposite kind
// where that makes it smaller: min(max(min(1,N),0),N) is min(1,N).
func distributed(op dimOp, args []Dim) (Dim, bool) {
	size := 1
	for _, x := range args {
		size += x.size()
	}
	if size > maxRewrite {
		return Dim{}, false
	}
	for i, x := range args {
		inner := x.argsOf(op.opposite())
		if len(inner) < 2 {
			continue
		}
		var out Dim
		for j, y := range inner {
			for k, other := range args {
				if k != i {
					y = plainExtreme(op, y, other)
				}
			}
			if j > 0 {
				y = plainExtreme(op.opposite(), out, y)
			}
			out = y
		}
		if !out.Overflow() && out.size() < size {
			return out, true
		}
	}
	return Dim{}, false
}

func (op dimOp) isExtreme() bool { return op == dimMin || op == dimMax }

// opposite returns max for min, and min for max.
func (op dimOp) opposite() dimOp { return dimMin + dimMax - op }

// argsOf returns the arguments of d where d is op of several, else d.
func (d Dim) argsOf(op dimOp) []Dim {
	if d.p != nil && len(d.p.terms) == 1 {
		t := d.p.terms[0]
		if t.k == 1 && len(t.atoms) == 1 && t.atoms[0].op == op {
			return t.atoms[0].args
		}
	}
	return []Dim{d}
}

// idleBeside reports whether op(x, y) is provably y.
func idleBeside(op dimOp, x, y Dim) bool {
	if op == dimMin {
		x, y = y, x
	}
	if x.p == nil && y.p == nil {
		return x.c <= y.c
	}
	return y.Sub(x).NonNegative()
}

func pickOf(larger bool) func(a, b int64) int64 {
	if larger {
		return func(a, b int64) int64 { return max(a, b) }
	}
	return func(a, b int64) int64 { return min(a, b) }
}

// NonNegative reports whether d is provably ≥ 0 for all symbols ≥ 0.
func (d Dim) NonNegative() bool {
	lo, _ := d.interval()
	if lo < 0 {
		lo = d.lower(new(maxBoundSteps))
	}
	return lo >= 0
}

// Bounds returns provable inclusive bounds of d for all symbols ≥ 0; where
// none is known they are [math.MinInt64] and [math.MaxInt64].
func (d Dim) Bounds() (lo, hi int64) {
	return d.lower(new(maxBoundSteps)), satNeg(d.Neg().lower(new(maxBoundSteps)))
}

const maxBoundSteps = 16

// interval bounds d from the bounds of its atoms, taken as unrelated.
func (d Dim) interval() (lo, hi int64) {
	if d.p == nil {
		return d.c, d.c
	}
	if d.p.fault != dimOK {
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

// lower improves the lower end of interval by replacing a floor, min or max
// with what bounds it, so that it can cancel against other terms:
// N − 2·floor(N/2) ≥ N − N.
func (d Dim) lower(steps *int) int64 {
	best, _ := d.interval()
	if *steps--; *steps < 0 {
		return best
	}
	for i, t := range d.terms() {
		for j, a := range t.atoms {
			others := slices.Concat(t.atoms[:j], t.atoms[j+1:])
			if a.op == dimSym || slices.ContainsFunc(others, (*dimAtom).signed) {
				continue
			}
			rest, scale := d.withoutTerm(i), dimTerm{t.k, others}
			replaced := lowerExtreme
			if a.op == dimFloor {
				replaced = lowerFloor
			}
			if lo := replaced(rest, scale, a, steps); lo > best {
				return lo
			}
		}
	}
	return best
}

// lowerExtreme bounds rest + scale·a from below, where a is min or max.
func lowerExtreme(rest Dim, scale dimTerm, a *dimAtom, steps *int) int64 {
	pick := pickOf((a.op == dimMax) == (scale.k > 0))
	best := rest.Add(a.args[0].times(scale)).lower(steps)
	for _, x := range a.args[1:] {
		best = pick(best, rest.Add(x.times(scale)).lower(steps))
	}
	return best
}

// lowerFloor bounds rest + scale·floor(p/q) from below: by the floor's own
// bounds, and for a product q = k·u by p − q < q·floor(p/q) ≤ p.
func lowerFloor(rest Dim, scale dimTerm, a *dimAtom, steps *int) int64 {
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
	sum := rest.times(dimTerm{k: div.k}).Add(p.times(dimTerm{scale.k, left}))
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

// Linear splits d into coef·sym + rest, neither of which mentions sym. It
// reports false where d is not linear in sym.
func (d Dim) Linear(sym string) (coef, rest Dim, ok bool) {
	if d.Overflow() {
		return Dim{}, Dim{}, false
	}
	var with, without []dimTerm
	for _, t := range d.terms() {
		var left []*dimAtom
		for _, a := range t.atoms {
			switch {
			case a.op == dimSym && a.name == sym:
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
			with = append(with, dimTerm{t.k, left})
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

func (a *dimAtom) symbols(names []string) []string {
	if a.op == dimSym {
		return append(names, a.name)
	}
	for _, d := range a.args {
		names = d.symbols(names)
	}
	return names
}

// Algebra is what [Fold] builds from the parts of a Dim: source text, a value,
// another Dim. A divisor is never the constant 0, and Min and Max get at least
// two arguments.
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

// Fold rebuilds d in alg, from the leaves up. A sum starts with a positive
// term where it has one, and subtracts the magnitudes of negative terms. The
// error is d.Err().
func Fold[T any](d Dim, alg Algebra[T]) (T, error) {
	if d.Overflow() {
		var zero T
		return zero, d.Err()
	}
	return foldDim(d, alg), nil
}

func foldDim[T any](d Dim, alg Algebra[T]) T {
	terms := d.terms()
	if len(terms) == 0 {
		return alg.Const(0)
	}
	first := max(0, slices.IndexFunc(terms, func(t dimTerm) bool { return t.k > 0 }))
	sum := foldTerm(terms[first], alg)
	for i, t := range terms {
		switch {
		case i == first:
		case t.k < 0 && t.k != math.MinInt64:
			sum = alg.Sub(sum, foldTerm(dimTerm{-t.k, t.atoms}, alg))
		default:
			sum = alg.Add(sum, foldTerm(t, alg))
		}
	}
	return sum
}

func foldTerm[T any](t dimTerm, alg Algebra[T]) T {
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

func foldAtom[T any](a *dimAtom, alg Algebra[T]) T {
	if a.op == dimSym {
		return alg.Sym(a.name)
	}
	args := make([]T, len(a.args))
	for i, d := range a.args {
		args[i] = foldDim(d, alg)
	}
	switch a.op {
	case dimFloor:
		return alg.FloorDiv(args[0], args[1])
	case dimMin:
		return alg.Min(args...)
	}
	return alg.Max(args...)
}

// Subst replaces the symbols for which value reports true, all at once.
func (d Dim) Subst(value func(sym string) (Dim, bool)) Dim {
	if d.p == nil || d.Overflow() || !touched(d, value) {
		return d
	}
	return foldDim(d, dimSubst(value))
}

// dimSubst folds a Dim to a Dim.
type dimSubst func(sym string) (Dim, bool)

func (dimSubst) Const(n int64) Dim     { return Dim{c: n} }
func (dimSubst) Add(a, b Dim) Dim      { return a.Add(b) }
func (dimSubst) Sub(a, b Dim) Dim      { return a.Sub(b) }
func (dimSubst) Mul(a, b Dim) Dim      { return a.Mul(b) }
func (dimSubst) FloorDiv(a, b Dim) Dim { return a.FloorDiv(b) }
func (dimSubst) Min(args ...Dim) Dim   { return reduceArgs(args, Dim.Min) }
func (dimSubst) Max(args ...Dim) Dim   { return reduceArgs(args, Dim.Max) }

func (value dimSubst) Sym(name string) Dim {
	if d, ok := value(name); ok {
		return d
	}
	return Sym(name)
}

func reduceArgs[T any](args []T, f func(a, b T) T) T {
	out := args[0]
	for _, a := range args[1:] {
		out = f(out, a)
	}
	return out
}

// Eval returns the value of d with the symbols that value gives. It fails on a
// symbol without a value, on division by zero, on overflow of int64 in any
// step, and on a poisoned d.
func (d Dim) Eval(value func(sym string) (int64, bool)) (int64, error) {
	if d.p == nil {
		return d.c, nil
	}
	e := dimEval{value: value}
	n, err := Fold(d, &e)
	if err == nil {
		err = e.err
	}
	if err != nil {
		return 0, err
	}
	return n, nil
}

// dimEval folds a Dim to its value and keeps the first error.
type dimEval struct {
	value func(sym string) (int64, bool)
	err   error
}

func (e *dimEval) fail(err error) int64 {
	if e.err == nil {
		e.err = err
	}
	return 0
}

func (e *dimEval) checked(n int64, ok bool) int64 {
	if !ok {
		return e.fail(dimFaults[dimOverflow].err)
	}
	return n
}

func (e *dimEval) Sym(name string) int64 {
	n, ok := e.value(name)
	if !ok {
		return e.fail(fmt.Errorf("dim: symbol %s: no value", name))
	}
	return n
}

func (e *dimEval) FloorDiv(a, b int64) int64 {
	if b == 0 {
		return e.fail(dimFaults[dimZeroDivisor].err)
	}
	return e.checked(floor64(a, b))
}

func (e *dimEval) Const(n int64) int64     { return n }
func (e *dimEval) Add(a, b int64) int64    { return e.checked(add64(a, b)) }
func (e *dimEval) Sub(a, b int64) int64    { return e.checked(sub64(a, b)) }
func (e *dimEval) Mul(a, b int64) int64    { return e.checked(mul64(a, b)) }
func (e *dimEval) Min(args ...int64) int64 { return slices.Min(args) }
func (e *dimEval) Max(args ...int64) int64 { return slices.Max(args) }

// constDim is the result of checked arithmetic on constants.
func constDim(n int64, ok bool) Dim {
	if !ok {
		return poisonDim(dimOverflow)
	}
	return Dim{c: n}
}

func add64(a, b int64) (int64, bool) {
	s := a + b
	return s, (s > a) == (b > 0)
}

func sub64(a, b int64) (int64, bool) {
	s := a - b
	return s, (s < a) == (b > 0)
}

func mul64(a, b int64) (int64, bool) {
	hi, lo := bits.Mul64(magnitude(a), magnitude(b))
	if (a < 0) != (b < 0) {
		return -int64(lo), hi == 0 && lo <= 1<<63
	}
	return int64(lo), hi == 0 && lo < 1<<63
}

// floor64 returns a / b rounded towards −∞ for b ≠ 0.
func floor64(a, b int64) (int64, bool) {
	n := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		n--
	}
	return n, a != math.MinInt64 || b != -1
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

// satNeg negates a bound.
func satNeg(a int64) int64 {
	switch a {
	case negInf:
		return posInf
	case posInf:
		return negInf
	}
	return -a
}

// satAdd adds two bounds of the kind whose unknown is inf.
func satAdd(a, b, inf int64) int64 {
	if a == inf || b == inf {
		return inf
	}
	if s, ok := add64(a, b); ok {
		return s
	}
	if a < 0 {
		return negInf
	}
	return posInf
}

// satMul multiplies two bounds; an unknown one times zero is zero.
func satMul(a, b int64) int64 {
	if a == 0 || b == 0 {
		return 0
	}
	n, ok := mul64(a, b)
	if ok && a != negInf && a != posInf && b != negInf && b != posInf {
		return n
	}
	if (a < 0) != (b < 0) {
		return negInf
	}
	return posInf
}
