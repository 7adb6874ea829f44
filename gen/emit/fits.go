package emit

import (
	"math"
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/plan"
	"github.com/burngen/burngen/runtime/rt"
)

// fits collects the extents that a function computes as ints and that may leave them.
// Where their symbols get values an rt.Sizes computes each of them once, and ends the
// function with an error if one does not fit.
type fits struct {
	f      *function
	points []*point
	// sure are extents that fit where the next step begins: the sizes of memory that was
	// made, and what the points compute.
	sure []ir.Dim
	// caller is of the method's function, nil in that itself.
	caller *fits
	// printed tells that the code of the points was written.
	printed bool
}

// point is a place in a function at which symbols have got values.
type point struct {
	id      any // what names it
	symbols []string
	z       string         // the variable of its rt.Sizes
	where   *jen.Statement // what an error begins with
	node    *ir.Node       // whose position an error has, nil for none
	open    bool           // the place has the rt.Sizes already, and returns its error
	code    *jen.Statement // empty until an extent needs it
	dims    []ir.Dim
}

// at adds a point and returns its code, which [fits.print] writes.
func (t *fits) at(p *point) jen.Code {
	p.code = &jen.Statement{}
	t.points = slices.DeleteFunc(t.points, func(o *point) bool { return o.id == p.id })
	t.points = append(t.points, p)
	return p.code
}

// atStep is at, after a step that has given symbols values.
func (t *fits) atStep(n *ir.Node, symbols []string) jen.Code {
	if len(symbols) == 0 {
		return jen.Null()
	}
	return t.at(&point{id: symbols[0], symbols: symbols, z: "z" + exported(t.f.symbols[symbols[0]]), where: jen.Lit(ir.OpName(n.Op)), node: n})
}

// atEntry is at, where a function begins.
func (t *fits) atEntry(symbols []string, where string, open bool) jen.Code {
	return t.at(&point{symbols: symbols, z: "z", where: jen.Lit(where), open: open})
}

// need notes that d is printed as an int. What follows from the symbols of the method
// itself is computed there.
func (t *fits) need(d ir.Dim) {
	if always(d) || t.isSure(d) {
		return
	}
	symbols := d.Symbols()
	if t.caller != nil && !slices.ContainsFunc(symbols, func(s string) bool { return !slices.Contains(t.caller.points[0].symbols, s) }) {
		t.caller.need(d)
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

// arena notes that an rt.Sizes computes the size of a function's arena, or those of its
// buffers, before the function begins.
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

// room notes that an rt.Sizes has computed the bytes of a buffer.
func (t *fits) room(b *plan.Buffer) {
	t.sure = append(t.sure, b.Elems.Mul(ir.Const(b.DType.Size())))
}

func (t *fits) isSure(d ir.Dim) bool {
	return slices.ContainsFunc(t.sure, func(s ir.Dim) bool { return isPart(d, s) })
}

// print writes the code of the points.
func (t *fits) print() {
	t.printed = true
	for _, p := range t.points {
		t.write(p)
	}
}

// write writes the code of a point anew.
func (t *fits) write(p *point) {
	var list []jen.Code
	for i, d := range p.dims {
		if !slices.ContainsFunc(p.dims[i+1:], func(o ir.Dim) bool { return isPart(d, o) }) {
			list = append(list, foldDim(d, ir.Algebra[*jen.Statement](sized{t.f, p.z})))
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
	if p.open {
		p.code.Add(fit)
		return
	}
	err := jen.Err()
	if p.node != nil {
		err = jen.Qual(rtPath, "At").Call(text(p.node.Pos), jen.Err())
	}
	p.code.Var().Id(p.z).Qual(rtPath, "Sizes").Line().Add(fit).Line()
	p.code.If(jen.Err().Op(":=").Id(p.z).Dot("Err").Call(p.where), jen.Err().Op("!=").Nil()).Block(jen.Return(err))
}

// isPart reports whether d is a part of e, so that it fits where e does: a fraction, or
// some of the terms of a sum without negative ones.
func isPart(d, e ir.Dim) bool {
	if rest := e.Sub(d); !rest.Overflow() && isPositive(d) && isPositive(rest) {
		return true
	}
	one := func(string) (int64, bool) { return 1, true }
	a, errA := d.Eval(one)
	b, errB := e.Eval(one)
	if errA != nil || errB != nil || a <= 0 || a > b {
		return false
	}
	x, y := d.Mul(ir.Const64(b)), e.Mul(ir.Const64(a))
	return !x.Overflow() && !y.Overflow() && x.Equal(y)
}

// isPositive reports whether nothing is subtracted in d.
func isPositive(d ir.Dim) bool {
	ok, err := ir.Fold(d, ir.Algebra[bool](positive{}))
	return ok && err == nil
}

// positive is the algebra of whether nothing is subtracted.
type positive struct{}

// Const reports whether a number is not negative.
func (positive) Const(n int64) bool { return n >= 0 }

// Sym is true: extents are not negative.
func (positive) Sym(string) bool { return true }

// Add reports whether both are positive.
func (positive) Add(a, b bool) bool { return a && b }

// Sub is false.
func (positive) Sub(_, _ bool) bool { return false }

// Mul reports whether both are positive.
func (positive) Mul(a, b bool) bool { return a && b }

// FloorDiv reports whether both are positive.
func (positive) FloorDiv(a, b bool) bool { return a && b }

// Min reports whether all are positive.
func (positive) Min(args ...bool) bool { return !slices.Contains(args, false) }

// Max reports whether all are positive.
func (positive) Max(args ...bool) bool { return !slices.Contains(args, false) }

// always reports whether d fits whatever its symbols are.
func always(d ir.Dim) bool {
	r := reach{new(rt.Sizes)}
	_, err := ir.Fold(d, ir.Algebra[span](r))
	return err == nil && r.z.Err("") == nil
}

// span is the range of values of an extent, and reach the algebra of spans: a result
// that may not fit is a problem of z.
type span struct{ lo, hi int64 }

type reach struct{ z *rt.Sizes }

// Const returns the span of a number.
func (reach) Const(n int64) span { return span{n, n} }

// Sym returns the span of a symbol.
func (reach) Sym(string) span { return span{0, math.MaxInt64} }

// Add returns the span of a sum.
func (r reach) Add(a, b span) span { return span{r.z.Add(a.lo, b.lo), r.z.Add(a.hi, b.hi)} }

// Sub returns the span of a difference.
func (r reach) Sub(a, b span) span { return span{r.z.Sub(a.lo, b.hi), r.z.Sub(a.hi, b.lo)} }

// Mul returns the span of a product.
func (r reach) Mul(a, b span) span { return corners(r.z.Mul, a, b) }

// FloorDiv returns the span of a quotient. A divisor that may be 0 is a problem.
func (r reach) FloorDiv(a, b span) span {
	if b.lo <= 0 && b.hi >= 0 {
		b.lo = 0
	}
	return corners(r.z.FloorDiv, a, b)
}

// Min returns the span of the smallest.
func (r reach) Min(args ...span) span { return extreme(r.z.Min, args) }

// Max returns the span of the largest.
func (r reach) Max(args ...span) span { return extreme(r.z.Max, args) }

// corners returns the span of what op has between the bounds of its operands.
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
