package emit

import (
	"math"
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/plan"
	"github.com/burngen/burngen/runtime/rt"
)

// fits collects extents of the function f that the generated code computes as ints and that may overflow. The code
// first computes such an extent with an rt.Sizes, and returns an error if it overflows. This code stands at a
// [point], a place where symbols have just got their values. [fits.need] chooses the point.
type fits struct {
	f      *function
	points []*point
	// sure holds extents that are known not to overflow: sizes of allocated memory, and extents
	// checked at the points.
	sure []dim.Dim
	// callers are the fits of the functions that call f. The list is empty for the function of a
	// method.
	callers []*fits
	// printed says that the code of the points has been written.
	printed bool
}

// point is a place in a function after symbols have been bound.
type point struct {
	id      any // identifies the point
	symbols []string
	z       string         // the variable of its rt.Sizes
	where   *jen.Statement // the beginning of an error's text
	node    *ir.Node       // the node that an error names, or nil
	code    *jen.Statement // empty until an extent needs it
	// dims are the extents that are checked at the point.
	dims []dim.Dim
}

// at adds the point p. p replaces an earlier point with the same id. It returns the code of p, which [fits.print]
// fills in later.
func (t *fits) at(p *point) jen.Code {
	p.code = &jen.Statement{}
	t.points = slices.DeleteFunc(t.points, func(o *point) bool { return o.id == p.id })
	t.points = append(t.points, p)
	return p.code
}

// atStep adds a [point] after the step of n, and returns the code of the point. The step gives `symbols` their
// values. If there are no symbols, atStep adds nothing and returns empty code.
func (t *fits) atStep(n *ir.Node, symbols []string) jen.Code {
	if len(symbols) == 0 {
		return jen.Null()
	}
	return t.at(&point{id: symbols[0], symbols: symbols, z: t.f.variableFor(symbols[0], "z"+ir.Exported(t.f.symbols[symbols[0]])), where: jen.Lit(ir.OpName(n.Op)), node: n})
}

func (t *fits) atEntry(symbols []string, prefix string) jen.Code {
	return t.at(&point{symbols: symbols, z: "z", where: jen.Lit(prefix)})
}

// need records that the code of t.f uses d as an int. If d may overflow, this code checks d at the last point that
// binds one of the symbols of d. There is one exception: if other functions call t.f, and each of them knows all
// symbols of d at its own beginning, these functions check d instead.
func (t *fits) need(d dim.Dim) {
	if always(d) || t.isSure(d) {
		return
	}
	symbols := d.Symbols()
	if t.areGiven(symbols) {
		for _, c := range t.callers {
			c.need(d)
		}
		return
	}
	for _, p := range slices.Backward(t.points) {
		if slices.ContainsFunc(p.symbols, func(s string) bool { return slices.Contains(symbols, s) }) {
			p.dims, t.sure = append(p.dims, d), append(t.sure, d)
			if t.printed {
				t.write(p)
			}
			return
		}
	}
}

// areGiven reports whether the function has callers and every caller knows all the symbols at its beginning.
func (t *fits) areGiven(symbols []string) bool {
	for _, c := range t.callers {
		if slices.ContainsFunc(symbols, func(s string) bool { return !slices.Contains(c.points[0].symbols, s) }) {
			return false
		}
	}
	return len(t.callers) > 0
}

// arena records sizes that are known not to overflow, because an rt.Sizes computes them before the function begins.
// They are the size of the arena in mode [plan.Scaled], and the sizes of all buffers in mode [plan.Dynamic].
func (t *fits) arena(p *plan.Plan) {
	switch p.Mode {
	case plan.Scaled:
		t.sure = append(t.sure, p.Size)
	case plan.Dynamic:
		for _, b := range p.Buffers {
			t.room(b)
		}
	}
}

func (t *fits) room(b *plan.Buffer) {
	t.sure = append(t.sure, b.Elems.Mul(dim.Const(b.DType.Size())))
}

func (t *fits) isSure(d dim.Dim) bool {
	return slices.ContainsFunc(t.sure, func(s dim.Dim) bool { return isPart(d, s) })
}

// print writes the code of the points. A later call of [fits.need] writes the code of a point again
// if it adds an extent.
func (t *fits) print() {
	t.printed = true
	for _, p := range t.points {
		t.write(p)
	}
}

func (t *fits) write(p *point) {
	var list []jen.Code
	for i, d := range p.dims {
		if !slices.ContainsFunc(p.dims[i+1:], func(o dim.Dim) bool { return isPart(d, o) }) {
			list = append(list, foldDim(d, dim.Algebra[*jen.Statement](sized{f: t.f, z: p.z})))
		}
	}
	*p.code = nil
	if len(list) == 0 {
		return
	}
	if len(list) > 1 {
		for i, c := range list {
			list[i] = jen.Line().Add(c)
		}
		list = append(list, jen.Line())
	}
	fit := jen.Id(p.z).Dot("Fits").Call(list...)
	err := jen.Err()
	if p.node != nil {
		err = jen.Qual(rtPath, "At").Call(Text(p.node.Pos), jen.Err())
	}
	p.code.Var().Id(p.z).Qual(rtPath, "Sizes").Line().Add(fit).Line()
	p.code.If(jen.Err().Op(":=").Id(p.z).Dot("Err").Call(p.where), jen.Err().Op("!=").Nil()).Block(jen.Return(err))
}

// isPart reports whether d is known to be at most e in magnitude, so that d overflows only if e does. This is known
// in two cases: d is c·e with a constant c, 0 < c ≤ 1, or d and e − d are both known not to be negative, see
// [isPositive].
func isPart(d, e dim.Dim) bool {
	if rest := e.Sub(d); !rest.Overflow() && isPositive(d) && isPositive(rest) {
		return true
	}
	one := func(string) (int64, bool) { return 1, true }
	a, errA := d.Eval(one)
	b, errB := e.Eval(one)
	if errA != nil || errB != nil || a <= 0 || a > b {
		return false
	}
	x, y := d.Mul(dim.Const64(b)), e.Mul(dim.Const64(a))
	return !x.Overflow() && !y.Overflow() && x.Equal(y)
}

// isPositive reports whether d is known not to be negative: it contains neither a subtraction nor a
// negative constant.
func isPositive(d dim.Dim) bool {
	ok, err := dim.Fold(d, dim.Algebra[bool](positive{}))
	return ok && err == nil
}

// positive is the algebra for [dim.Fold] that computes [isPositive].
type positive struct{}

func (positive) Const(n int64) bool { return n >= 0 }

// Sym returns true: extents are not negative.
func (positive) Sym(string) bool { return true }

func (positive) Add(a, b bool) bool { return a && b }

// Sub returns false: a difference may be negative.
func (positive) Sub(_, _ bool) bool { return false }

func (positive) Mul(a, b bool) bool { return a && b }

func (positive) FloorDiv(a, b bool) bool { return a && b }

func (positive) Min(args ...bool) bool { return !slices.Contains(args, false) }

func (positive) Max(args ...bool) bool { return !slices.Contains(args, false) }

// always reports whether d is known not to overflow, whatever the values of its symbols are.
func always(d dim.Dim) bool {
	r := reach{new(rt.Sizes)}
	_, err := dim.Fold(d, dim.Algebra[span](r))
	return err == nil && r.z.Err("") == nil
}

type span struct{ lo, hi int64 }

// reach is the algebra for [dim.Fold] that computes the span of an extent: its smallest and its largest possible
// value. Symbols may be any numbers from 0 on. z records an error if a result may overflow.
type reach struct{ z *rt.Sizes }

func (reach) Const(n int64) span { return span{n, n} }

func (reach) Sym(string) span { return span{0, math.MaxInt64} }

func (r reach) Add(a, b span) span { return span{r.z.Add(a.lo, b.lo), r.z.Add(a.hi, b.hi)} }

func (r reach) Sub(a, b span) span { return span{r.z.Sub(a.lo, b.hi), r.z.Sub(a.hi, b.lo)} }

func (r reach) Mul(a, b span) span { return corners(r.z.Mul, a, b) }

// FloorDiv returns the span of a/b, rounded down. If b may be 0, z records an error.
func (r reach) FloorDiv(a, b span) span {
	if b.lo <= 0 && b.hi >= 0 {
		b.lo = 0
	}
	return corners(r.z.FloorDiv, a, b)
}

func (r reach) Min(args ...span) span { return extreme(r.z.Min, args) }

func (r reach) Max(args ...span) span { return extreme(r.z.Max, args) }

// corners returns the span of op(x, y) for x in a and y in b. It computes op at the bounds of a and b only, so op
// must take its smallest and largest values there.
func corners(op func(a, b int64) int64, a, b span) span {
	list := []int64{op(a.lo, b.lo), op(a.lo, b.hi), op(a.hi, b.lo), op(a.hi, b.hi)}
	return span{slices.Min(list), slices.Max(list)}
}

func extreme(op func(a, b int64) int64, args []span) span {
	out := args[0]
	for _, a := range args[1:] {
		out = span{op(out.lo, a.lo), op(out.hi, a.hi)}
	}
	return out
}
