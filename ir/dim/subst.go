package dim

import "slices"

// Subst returns d with its symbols replaced. The function `value` returns the Dim that replaces a symbol, and false
// for a symbol that stays. Symbols of the Dims that `value` returns are not replaced.
func (d Dim) Subst(value func(sym string) (Dim, bool)) Dim {
	if d.p == nil || d.Overflow() || !d.Mentions(value) {
		return d
	}
	return fold(d, substitution(value))
}

// substitution is the argument `value` of [Dim.Subst]. Its methods are an [Algebra] that builds the Dim with the
// symbols replaced.
type substitution func(sym string) (Dim, bool)

func (substitution) Const(n int64) Dim     { return Dim{c: n} }
func (substitution) Add(a, b Dim) Dim      { return a.Add(b) }
func (substitution) Sub(a, b Dim) Dim      { return a.Sub(b) }
func (substitution) Mul(a, b Dim) Dim      { return a.Mul(b) }
func (substitution) FloorDiv(a, b Dim) Dim { return a.FloorDiv(b) }
func (substitution) Min(args ...Dim) Dim   { return reduceArgs(args, Dim.Min) }
func (substitution) Max(args ...Dim) Dim   { return reduceArgs(args, Dim.Max) }

func (value substitution) Sym(name string) Dim {
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

// Mentions reports whether [Dim.Subst] would replace a symbol of d: whether the function `value` returns true for
// one.
func (d Dim) Mentions(value func(sym string) (Dim, bool)) bool {
	for _, t := range d.terms() {
		for _, a := range t.atoms {
			if a.op == opSym {
				if _, ok := value(a.name); ok {
					return true
				}
			}
			if slices.ContainsFunc(a.args, func(arg Dim) bool { return arg.Mentions(value) }) {
				return true
			}
		}
	}
	return false
}
