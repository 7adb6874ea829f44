package emit

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/plan"
)

func (f *function) branch(s *program.Branch, v *views) []jen.Code {
	out := append(f.fetch(v, s.Condition),
		jen.If(f.slice(s.Condition, v).Index(jen.Lit(0))).Block(f.invoke(s.Then, v)...).Else().Block(f.invoke(s.Otherwise, v)...))
	return append(out, f.extents(s.Node, s.Extents)...)
}

// list binds symbols to extents of tensors. Each tensor is stored with its shape in a field of f.host. extents prints
// the declaration of a variable for each of these symbols that the code uses. Then it prints checks of extents that
// may overflow, see [fits].
func (f *function) extents(n *ir.Node, list []program.Extent) []jen.Code {
	var out []jen.Code
	for _, e := range list {
		if f.used[e.Symbol] {
			out = append(out, jen.Id(f.symbols[e.Symbol]).Op(":=").Add(f.host.self()).Dot(f.held[e.Ref.Variable()]).Dot("Shape").Index(jen.Lit(e.Axis)))
		}
	}
	return append(out, f.fits.atStep(n, symbolsOf(list)))
}

// passed prints arg, the argument that tells callee where to write its result i, and setup, statements before the
// call. ref is the memory of the result, and t its type. If the result is a tensor that is stored with its shape, and
// callee does not determine the shape, setup sets the shape. Otherwise setup is nil.
func (f *function) passed(callee *program.Func, i int, ref *plan.Ref, t ir.Type, v *views) (setup []jen.Code, arg jen.Code) {
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

func (f *function) reshape(box *jen.Statement, shape []jen.Code) jen.Code {
	call := box.Clone().Dot("Resize").Call(append([]jen.Code{jen.Lit("result")}, shape...)...)
	return checked(call)
}

// checked prints "if err := call; err != nil { return err }".
func checked(call *jen.Statement) jen.Code {
	return jen.If(jen.Err().Op(":=").Add(call), jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Err()))
}

func (f *function) enter(callee *program.Func, bases []*plan.Ref, results, args []jen.Code) jen.Code {
	var list []jen.Code
	for _, symbol := range callee.IR.Symbols() {
		list = append(list, f.int(dim.Sym(symbol)))
	}
	for _, base := range bases {
		list = append(list, f.offset(base.Place.Buffer))
	}
	return checked(f.host.self().Dot(f.callees[callee].name).Call(slices.Concat([]jen.Code{jen.Id("call")}, list, results, args)...))
}

// turn has the names of three variables for a value that a loop carries. An iteration reads now and writes next. The
// following iteration writes other.
type turn struct{ now, next, other string }

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
	first = append(first, f.send(v, s.Trip, s.Going)...)
	body := slices.Concat(first, p.bound, p.before, []jen.Code{f.enter(s.Callee, s.Bases, results, args)}, p.after)
	if !s.Counted {
		body = append(body, f.fetch(v, s.Again)...)
		body = append(body, jen.Id("going").Op("=").Add(f.slice(s.Again, v)).Index(jen.Lit(0)))
	}
	loop := jen.For(jen.Id("trip").Op(":=").Int64().Call(jen.Lit(0)), test, jen.Id("trip").Op("++")).Block(body...)
	block := jen.Block(slices.Concat(f.fetch(v, s.Limit, s.Condition), trips, p.first, []jen.Code{loop}, p.last)...)
	return append([]jen.Code{block}, f.extents(s.Node, s.Extents)...)
}

type repeatPrinter struct {
	*function
	s *program.Repeat
	v *views
	// first are the statements before the loop, and last the statements after it. before and after
	// are the statements before and after the call in each iteration. bound declares the variables
	// of an iteration's extents, before all other statements. results and args are the results and
	// operands of the call.
	first, before, after, last []jen.Code
	bound                      []jen.Code
	results, args              []jen.Code
}

func (p *repeatPrinter) scope() *Scope { return &Scope{p.function, p.v} }

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

func (p *repeatPrinter) carried(i int, c program.Carried) {
	if c.Result.Variable() == nil || !c.Result.Boxed() && c.Type.IsTensor() {
		t := p.turns[p.s][i]
		names := jen.List(jen.Id(t.now), jen.Id(t.next), jen.Id(t.other))
		p.first = append(p.first, names.Clone().Op(":=").List(p.slice(c.First, p.v), p.slice(c.Result, p.v), p.slice(c.Other, p.v)))
		p.results, p.args = append(p.results, jen.Id(t.next)), append(p.args, jen.Id(t.now))
		p.after = append(p.after, names.Clone().Op("=").List(jen.Id(t.next), jen.Id(t.other), jen.Id(t.next)))
		p.last = append(p.last, p.printer.Copy(p.scope(), p.slice(c.Result, p.v), jen.Id(t.now)))
		return
	}
	now, next := p.host.self().Dot(p.held[c.Result.Variable()]), p.host.self().Dot(p.held[c.Other.Variable()])
	swap := jen.List(now.Clone(), next.Clone()).Op("=").List(next.Clone(), now.Clone())
	p.after = append(p.after, swap)
	if c.Type.IsTensor() {
		p.first = append(p.first,
			p.reshape(now, p.ints(c.First.Value.Type.Shape)),
			p.printer.Copy(p.scope(), now.Clone().Dot("Data"), p.slice(c.First, p.v)))
		p.bound = append(p.bound, p.extents(p.s.Node, c.Varying)...)
		before, result := p.passed(p.s.Callee, 1+i, c.Other, c.Next, p.v)
		p.before, p.results = append(p.before, before...), append(p.results, result)
		p.args = append(p.args, now.Clone().Dot("Data"))
		return
	}
	first := p.container(c.First)
	if c.Type.Kind == ir.SequenceKind {
		// A copy, because iterations must not write into the memory of an existing slice.
		first = jen.Append(now.Clone().Index(jen.Empty(), jen.Lit(0)), first.Op("..."))
	}
	p.first = append(p.first, now.Clone().Op("=").Add(first))
	p.results, p.args = append(p.results, jen.Op("&").Add(next)), append(p.args, now)
}

func (p *repeatPrinter) scan(i int, scan program.Scan) {
	if !scan.Result.Boxed() {
		n := p.expr(dim.Product(scan.Row.Shape...)).factor()
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
			jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Qual(rtPath, "At").Call(Text(p.s.Node.Pos), jen.Err()))),
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
	p.after = append(p.after, p.printer.Copy(p.scope(), jen.Id(row), buffer.Clone().Dot("Data")))
}
