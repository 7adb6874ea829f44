package dim

import "slices"

// Min returns the smaller of d and e.
func (d Dim) Min(e Dim) Dim { return extreme(opMin, d, e) }

// Max returns the larger of d and e.
func (d Dim) Max(e Dim) Dim { return extreme(opMax, d, e) }

// extreme returns the min or max of d and e, as op says. If d or e is itself such a min or max, its arguments become
// arguments of the result. Arguments that provably never decide the result are left out.
func extreme(op operator, d, e Dim) Dim {
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

// plainExtreme is extreme without the rewriting by [Dim.pushed] and [distributed].
func plainExtreme(op operator, d, e Dim) Dim {
	if f := max(d.fault(), e.fault()); f != noFault {
		return poison(f)
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
	if len(args) > maxArgs {
		return poison(tooComplex)
	}
	if args[0].IsConst() { // reads better at the end
		args = append(args[1:], args[0])
	}
	a := atom{op: op, args: args}
	a.lo, a.hi = args[0].Bounds()
	pick := pickOf(op == opMax)
	for _, x := range args[1:] {
		lo, hi := x.Bounds()
		a.lo, a.hi = pick(a.lo, lo), pick(a.hi, hi)
	}
	return ofAtom(a)
}

// maxRewrite is the maximum number of atoms of an expression that [Dim.pushed] or [distributed] rewrites. A larger
// expression stays as it is.
const maxRewrite = 24

// pushed moves the other terms of a sum d into the arguments of a min or max that d adds or subtracts: min(N+1,8) − N
// becomes min(1,8−N). It returns d if d does not have this form or has more than maxRewrite atoms, or if the result
// would not have fewer atoms.
func (d Dim) pushed() Dim {
	if d.p == nil || len(d.p.terms) < 2 || d.p.size > maxRewrite {
		return d
	}
	at := slices.IndexFunc(d.p.terms, func(t term) bool {
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
		if x = x.times(term{k: t.k}).Add(rest); i > 0 {
			x = plainExtreme(op, out, x)
		}
		out = x
	}
	if out.Overflow() || out.Size() >= d.Size() {
		return d
	}
	return out
}

// distributed returns op(args) with op moved into an argument of the opposite kind: a max if op is min, and a min if
// op is max. For example, min(max(min(1,N),0),N) becomes min(1,N). distributed returns false if no argument is of the
// opposite kind, if there are more than maxRewrite atoms, or if the result would not have fewer atoms.
func distributed(op operator, args []Dim) (Dim, bool) {
	size := 1
	for _, x := range args {
		size += x.Size()
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
		if !out.Overflow() && out.Size() < size {
			return out, true
		}
	}
	return Dim{}, false
}

func (op operator) isExtreme() bool { return op == opMin || op == opMax }

func (op operator) opposite() operator { return opMin + opMax - op }

// argsOf returns the arguments of d if d is op(…), else d alone.
func (d Dim) argsOf(op operator) []Dim {
	if d.p != nil && len(d.p.terms) == 1 {
		t := d.p.terms[0]
		if t.k == 1 && len(t.atoms) == 1 && t.atoms[0].op == op {
			return t.atoms[0].args
		}
	}
	return []Dim{d}
}

// idleBeside reports whether op(x, y) is provably y.
func idleBeside(op operator, x, y Dim) bool {
	if op == opMin {
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
