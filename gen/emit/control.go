package emit

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/ir"
)

// branch prints the choice between two functions.
func (f *function) branch(s *program.Branch, v *views) []jen.Code {
	out := []jen.Code{
		jen.If(f.arg(s.Condition, v)).Block(f.invoke(s.Then, v)...).Else().Block(f.invoke(s.Otherwise, v)...),
	}
	return append(out, f.extents(s.Node, s.Extents)...)
}

// extents prints the variables of symbols that shapes bind.
func (f *function) extents(n *ir.Node, list []program.Extent) []jen.Code {
	var out []jen.Code
	for _, e := range list {
		if f.used[e.Symbol] {
			out = append(out, jen.Id(f.symbols[e.Symbol]).Op(":=").Add(f.host.self()).Dot(f.held[e.Variable]).Dot("Shape").Index(jen.Lit(e.Axis)))
		}
	}
	return append(out, f.fits.atStep(n, symbolsOf(list)))
}

// passed prints what a function writes a result to, and what comes before: a tensor
// that is held with its shape gets the one it will have, unless only the function
// knows that.
func (f *function) passed(callee *program.Func, i int, ref *program.Ref, t ir.Type, v *views) (before []jen.Code, arg jen.Code) {
	switch {
	case !t.IsTensor():
		return nil, f.pointer(ref)
	case !ref.Boxed():
		return nil, f.slice(ref, v)
	}
	box := f.host.self().Dot(f.held[ref.Variable()])
	if callee.Plan.IsLate(callee.IR.Results[i].Type) {
		return nil, jen.Op("&").Add(box)
	}
	return []jen.Code{f.reshape(box, f.ints(t.Shape))}, box.Clone().Dot("Data")
}

// reshape prints the change of a tensor to a shape.
func (f *function) reshape(box *jen.Statement, shape []jen.Code) jen.Code {
	call := box.Clone().Dot("Resize").Call(append([]jen.Code{jen.Lit("result")}, shape...)...)
	return checked(call)
}

// checked prints a call whose error ends the function.
func checked(call *jen.Statement) jen.Code {
	return jen.If(jen.Err().Op(":=").Add(call), jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Err()))
}

// enter prints the call of a function: the symbols, where its arena begins, results
// and operands.
func (f *function) enter(callee *program.Func, base *program.Ref, results, args []jen.Code) jen.Code {
	var list []jen.Code
	for _, symbol := range callee.IR.Symbols() {
		list = append(list, f.int(ir.Sym(symbol)))
	}
	list = append(list, f.offset(base.Place.Buffer))
	return checked(f.host.self().Dot(f.callees[callee].name).Call(slices.Concat(list, results, args)...))
}

// turn names the variables of a carried value that is passed from one place to
// another: what a trip reads, where it writes, and the third.
type turn struct{ now, next, other string }

// repeat prints a loop.
func (f *function) repeat(s *program.Repeat, v *views) []jen.Code {
	p := &repeatPrinter{function: f, s: s, v: v}
	for i, c := range s.Carried {
		p.carried(i, c)
	}
	for i, scan := range s.Scans {
		p.scan(i, scan)
	}
	for _, ref := range s.Captured {
		p.args = append(p.args, f.slice(ref, v))
	}
	trips, test := p.trips()
	first := []jen.Code{
		f.slice(s.Trip, v).Index(jen.Lit(0)).Op("=").Id("trip"),
		f.slice(s.Going, v).Index(jen.Lit(0)).Op("=").True(),
	}
	results := append([]jen.Code{f.slice(s.Again, v)}, p.results...)
	args := append([]jen.Code{f.slice(s.Trip, v), f.slice(s.Going, v)}, p.args...)
	body := slices.Concat(first, p.bound, p.before, []jen.Code{f.enter(s.Callee, s.Base, results, args)}, p.after)
	if !s.Counted {
		body = append(body, jen.Id("going").Op("=").Add(f.slice(s.Again, v)).Index(jen.Lit(0)))
	}
	loop := jen.For(jen.Id("trip").Op(":=").Int64().Call(jen.Lit(0)), test, jen.Id("trip").Op("++")).Block(body...)
	block := jen.Block(slices.Concat(trips, p.first, []jen.Code{loop}, p.last)...)
	return append([]jen.Code{block}, f.extents(s.Node, s.Extents)...)
}

type repeatPrinter struct {
	*function
	s *program.Repeat
	v *views
	// What is done before the loop, before and after the call of each trip, and after
	// the loop; the extents that each trip has, before all else of it; the results and
	// operands of that call.
	first, before, after, last []jen.Code
	bound                      []jen.Code
	results, args              []jen.Code
}

// trips prints the number of trips and the test for another.
func (p *repeatPrinter) trips() ([]jen.Code, *jen.Statement) {
	s, test := p.s, jen.Id("trip").Op("<").Id("trips")
	n := jen.Int64().Call(jen.Qual("math", "MaxInt64"))
	switch {
	case s.Counted:
		return []jen.Code{jen.Id("trips").Op(":=").Int64().Call(p.int(s.Trips))}, test
	case s.Limit != nil:
		n = jen.Int64().Call(p.slice(s.Limit, p.v).Index(jen.Lit(0)))
	}
	going := jen.True()
	if s.Condition != nil {
		going = p.slice(s.Condition, p.v).Index(jen.Lit(0))
	}
	return []jen.Code{
		jen.Id("trips").Op(":=").Add(n),
		jen.Id("going").Op(":=").Add(going),
	}, test.Op("&&").Id("going")
}

// carried prints what becomes of a carried value.
func (p *repeatPrinter) carried(i int, c program.Carried) {
	if c.Result.Variable() == nil || !c.Result.Boxed() && c.Type.IsTensor() {
		t := p.turns[p.s][i]
		names := jen.List(jen.Id(t.now), jen.Id(t.next), jen.Id(t.other))
		p.first = append(p.first, names.Clone().Op(":=").List(p.slice(c.First, p.v), p.slice(c.Result, p.v), p.slice(c.Other, p.v)))
		p.results, p.args = append(p.results, jen.Id(t.next)), append(p.args, jen.Id(t.now))
		p.after = append(p.after, names.Clone().Op("=").List(jen.Id(t.next), jen.Id(t.other), jen.Id(t.next)))
		p.last = append(p.last, jen.Qual(cpuPath, "Copy").Call(p.slice(c.Result, p.v), jen.Id(t.now)))
		return
	}
	now, next := p.host.self().Dot(p.held[c.Result.Variable()]), p.host.self().Dot(p.held[c.Other.Variable()])
	swap := jen.List(now.Clone(), next.Clone()).Op("=").List(next.Clone(), now.Clone())
	p.after = append(p.after, swap)
	if c.Type.IsTensor() {
		p.first = append(p.first,
			p.reshape(now, p.ints(c.First.Value.Type.Shape)),
			jen.Qual(cpuPath, "Copy").Call(now.Clone().Dot("Data"), p.slice(c.First, p.v)))
		p.bound = append(p.bound, p.extents(p.s.Node, c.Varying)...)
		before, result := p.passed(p.s.Callee, 1+i, c.Other, c.Next, p.v)
		p.before, p.results = append(p.before, before...), append(p.results, result)
		p.args = append(p.args, now.Clone().Dot("Data"))
		return
	}
	first := p.container(c.First)
	if c.Type.Kind == ir.SequenceKind {
		// A copy: what trips write may be in the memory of a slice that was there before.
		first = jen.Append(now.Clone().Index(jen.Empty(), jen.Lit(0)), first.Op("..."))
	}
	p.first = append(p.first, now.Clone().Op("=").Add(first))
	p.results, p.args = append(p.results, jen.Op("&").Add(next)), append(p.args, now)
}

// scan prints where a trip writes its row.
func (p *repeatPrinter) scan(i int, scan program.Scan) {
	if !scan.Result.Boxed() {
		n := p.expr(ir.Product(scan.Row.Shape...)).factor()
		at := jen.Int().Call(jen.Id("trip")).Op("*").Add(n)
		p.results = append(p.results, p.slice(scan.Result, p.v).Index(at, jen.Parens(jen.Int().Call(jen.Id("trip")).Op("+").Lit(1)).Op("*").Add(n.Clone())))
		return
	}
	box := p.host.self().Dot(p.held[scan.Result.Variable()])
	shape := append([]jen.Code{jen.Lit(0)}, p.ints(scan.None)...)
	p.first = append(p.first, p.reshape(box, shape))
	row := p.rows[p.s][i]
	add := func(dims ...jen.Code) []jen.Code {
		call := box.Clone().Dot("Append").Call(append([]jen.Code{jen.Lit("scan")}, dims...)...)
		return []jen.Code{
			jen.List(jen.Id(row), jen.Err()).Op(":=").Add(call),
			jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Qual(rtPath, "At").Call(text(p.s.Node.Pos), jen.Err()))),
		}
	}
	if scan.Buffer == nil {
		p.before = append(p.before, add(p.ints(scan.Row.Shape)...)...)
		p.results = append(p.results, jen.Id(row))
		return
	}
	buffer := p.host.self().Dot(p.held[scan.Buffer.Variable()])
	p.results = append(p.results, jen.Op("&").Add(buffer))
	p.after = append(p.after, add(buffer.Clone().Dot("Shape").Op("..."))...)
	p.after = append(p.after, jen.Qual(cpuPath, "Copy").Call(jen.Id(row), buffer.Clone().Dot("Data")))
}
