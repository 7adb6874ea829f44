package emit

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/plan"
	"github.com/burngen/burngen/runtime/rt"
)

// port is an input or output as callers see it.
type port struct {
	index int
	value *ir.Value
	name  string // the model's
	said  string // what errors call it
	id    string // parameter or local variable
	field string // of Inputs or Outputs
	typ   string // exported type, "" where it has none
	kind  string // "input" or "output"
	form  form
	// saved tells that the trainer holds an argument until the second half.
	saved bool
	// room is the session's field that holds a scalar argument.
	room string
	// kept is the session's field of a state, which callers do not see.
	kept string
}

// seen returns the ports that callers see.
func seen(ports []port) []port {
	return slices.DeleteFunc(slices.Clone(ports), func(p port) bool { return p.kept != "" })
}

func (p port) elem() *jen.Statement { return jen.Id(goType(p.value.Type.DType)) }

// item prints the type of an array, or of an item of a batch.
func (p port) item() *jen.Statement {
	if p.typ == "" {
		return p.elem()
	}
	return jen.Id(p.typ)
}

// array prints the array type of the last dimensions of p, from the given one on.
func (p port) array(from int) *jen.Statement {
	s := jen.Empty()
	for _, d := range p.value.Type.Shape[from:] {
		n, _ := d.Int()
		s = s.Index(jen.Lit(n))
	}
	return s.Add(p.elem())
}

// api prints the types and methods of a function.
type api struct {
	spec    *Function
	host    *host
	form    form
	symbol  string // of the batch
	in, out []port
	// numIn and numOut are the numbers of ports that callers see.
	numIn, numOut int

	symbols []string          // of the function, sorted
	vars    map[string]string // symbol → variable
	where   string            // "digits: Forward"
	fn      *function
	// types are the declarations of the ports' types.
	types []jen.Code
	// result is the struct that several results stand in.
	result string
	// seeds are the gradients of results that a second half takes.
	seeds []port
	// keyed tells that the schedule takes a key after the arguments.
	keyed bool
}

// inStruct and outStruct tell whether arguments or results stand in a struct.
func (a *api) inStruct() bool  { return a.numIn != 1 && a.spec.Inputs != "" }
func (a *api) outStruct() bool { return a.numOut != 1 }

// argument prints the type in which a caller passes a port's tensor.
func (a *api) argument(p port) *jen.Statement {
	switch {
	case p.form == static:
		return jen.Op("*").Add(p.item())
	case p.form == batched:
		return jen.Index().Add(p.item())
	case p.form == scalar:
		return p.elem()
	case !p.value.Type.IsTensor():
		return jen.Id(heldType(p.value.Type))
	}
	return jen.Qual(rtPath, "Tensor").Index(p.elem())
}

// inputs prints the parameters of the methods.
func (a *api) inputs() []jen.Code {
	if a.inStruct() {
		return []jen.Code{jen.Id("in").Id(a.spec.Inputs)}
	}
	var params []jen.Code
	in := seen(a.in)
	for i, p := range in {
		typ := a.argument(p)
		if i+1 < len(in) && a.argument(in[i+1]).GoString() == typ.GoString() {
			params = append(params, jen.Id(p.id))
		} else {
			params = append(params, jen.Id(p.id).Add(typ))
		}
	}
	return params
}

// passed prints the arguments where one method calls another.
func (a *api) passed() []jen.Code {
	if a.inStruct() {
		return []jen.Code{jen.Id("in")}
	}
	var args []jen.Code
	for _, p := range seen(a.in) {
		args = append(args, jen.Id(p.id))
	}
	return args
}

// outputs prints the type of the result, and dst the one it is written to.
func (a *api) outputs() *jen.Statement {
	if a.outStruct() {
		return jen.Id(a.result)
	}
	return a.argument(seen(a.out)[0])
}

func (a *api) dst() *jen.Statement {
	if a.isPointer() {
		return jen.Op("*").Add(a.outputs())
	}
	return a.outputs()
}

// isPointer reports whether dst points to what the caller gets.
func (a *api) isPointer() bool {
	if a.outStruct() {
		return a.form == dynamic || a.spec.Direct
	}
	only := seen(a.out)[0]
	return only.form == dynamic || only.form == scalar
}

// given prints the expression of a port inside the session's method.
func (a *api) given(p port) *jen.Statement {
	switch {
	case p.kept != "" && p.kind == "output":
		return a.host.self().Dot(p.kept).Dot("Next")
	case p.kept != "":
		return a.host.self().Dot(p.kept).Dot("Now")
	case p.kind == "output" && a.outStruct():
		return jen.Id("dst").Dot(p.field)
	case p.kind == "output":
		return jen.Id("dst")
	case p.saved:
		return a.host.self().Dot(a.savedField(p))
	case slices.ContainsFunc(a.seeds, func(s port) bool { return s.id == p.id }):
		return jen.Id(p.id)
	case a.inStruct():
		return jen.Id("in").Dot(p.field)
	}
	return jen.Id(p.id)
}

// late reports whether an output has extents that are known only while the model
// runs.
func (a *api) late(p port) bool { return p.kind == "output" && a.fn.Plan.IsLate(p.value.Type) }

// flat prints the elements of a port as a slice.
func (a *api) flat(p port) *jen.Statement {
	switch {
	case p.form == static:
		return jen.Qual(rtPath, "FlatOf").Index(p.elem()).Call(a.given(p))
	case p.form == batched:
		return jen.Qual(rtPath, "Flat").Index(p.elem()).Call(a.given(p))
	case p.form == scalar && p.kind == "input":
		return jen.Qual(rtPath, "FlatOf").Index(p.elem()).Call(jen.Op("&").Add(a.host.self()).Dot(p.room))
	case p.form == scalar && a.outStruct():
		return jen.Qual(rtPath, "FlatOf").Index(p.elem()).Call(jen.Op("&").Add(a.given(p)))
	case p.form == scalar:
		return jen.Qual(rtPath, "FlatOf").Index(p.elem()).Call(a.given(p))
	case !p.value.Type.IsTensor():
		return a.given(p)
	}
	return a.given(p).Dot("Data")
}

// typeDecls prints the types of the arguments and results.
func (a *api) typeDecls() []jen.Code {
	out := slices.Clone(a.types)
	method := a.spec.Method
	if a.inStruct() {
		out = append(out, a.structDecl(a.spec.Inputs, "holds the arguments of "+method+".", seen(a.in))...)
	}
	if a.outStruct() {
		out = append(out, a.structDecl(a.result, "holds the results of "+method+".", seen(a.out))...)
	}
	return out
}

func (a *api) structDecl(name, doc string, ports []port) []jen.Code {
	var fields []jen.Code
	for _, p := range ports {
		fields = append(fields, jen.Id(p.field).Add(a.argument(p)).Comment(comment(strconv.QuoteToASCII(p.name)+": "+p.value.Type.String())))
	}
	return []jen.Code{jen.Comment(name + " " + doc), jen.Type().Id(name).Struct(fields...), jen.Line()}
}

// doc prints what a function computes: its own documentation, or all for the model,
// and what is to be said of the method.
func (a *api) doc(into, rest string) jen.Code {
	if a.spec.Doc == "" {
		return jen.Comment(lines(a.spec.Method + " computes the model" + into + "." + rest))
	}
	var text []string
	for line := range strings.Lines(a.spec.Doc) {
		text = append(text, comment(line))
	}
	if into != "" {
		into = "The result is written" + into + "."
	}
	return jen.Comment(lines(strings.Join(text, "\n") + "\n\n" + strings.TrimSpace(into+rest)))
}

// modelMethods prints a function's methods of Model, the second of them with a context.
func (a *api) modelMethods() []jen.Code {
	name, context := a.spec.Method, a.spec.Method+"Context"
	model := jen.Id("m").Op("*").Id("Model")
	call := jen.Id("m").Dot(context).Call(append([]jen.Code{jen.Qual("context", "Background").Call()}, a.passed()...)...)
	body := []jen.Code{
		jen.List(jen.Id("s"), jen.Err()).Op(":=").Id("m").Dot("session").Call(jen.Id("ctx")),
		jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Id("dst"), jen.Err())),
		jen.Defer().Id("m").Dot("putBack").Call(jen.Id("s")),
	}
	for _, p := range a.out {
		switch p.form {
		case static:
			body = append(body, a.given(p).Op("=").New(p.item()))
		case batched:
			body = append(body, a.room(a.given(p), jen.Id("dst")))
		}
	}
	rest := " It is safe to call from many goroutines."
	if len(a.states()) > 0 {
		rest += "\nIts states begin anew: what calls leave to each other is a session's."
		body = append(body, jen.Id("s").Dot("Reset").Call())
	}
	target := jen.Id("dst")
	if a.isPointer() {
		target = jen.Op("&").Id("dst")
	}
	body = append(body, jen.Return(jen.Id("dst"), jen.Id("s").Dot(name).Call(append([]jen.Code{target}, a.passed()...)...)))
	return []jen.Code{
		a.doc("", rest),
		jen.Func().Params(model).Id(name).Params(a.inputs()...).Params(a.outputs(), jen.Error()).Block(jen.Return(call)),
		jen.Line(),
		jen.Comment(lines(context + " is " + name + " that ends early, with the context's error, when ctx is\ndone; a nil ctx never is.")),
		jen.Func().Params(model).Id(context).Params(append([]jen.Code{jen.Id("ctx").Qual("context", "Context")}, a.inputs()...)...).Params(jen.Id("dst").Add(a.outputs()), jen.Err().Error()).Block(body...),
		jen.Line(),
	}
}

// room prints the making of room for a result that has an item for each of the batch, in
// a method that returns dst and an error.
func (a *api) room(result, dst *jen.Statement) jen.Code {
	room := jen.Qual(rtPath, "Room").Call(jen.Lit(a.where), jen.Op("&").Add(result), a.batch())
	return jen.If(jen.Err().Op(":=").Add(room), jen.Err().Op("!=").Nil()).Block(jen.Return(dst, jen.Err()))
}

// batch prints the number of items in the batch.
func (a *api) batch() *jen.Statement {
	for _, p := range a.in {
		if p.form == batched {
			return jen.Len(a.given(p))
		}
	}
	return nil
}

// sessionMethod prints a function's method of Session; take is how it takes weights.
func (a *api) sessionMethod(take jen.Code) []jen.Code {
	where := jen.Lit(a.where)
	body := []jen.Code{
		checked(jen.Id("s").Dot("enter").Call()),
		jen.Defer().Id("s").Dot("leave").Call(),
		jen.Defer().Qual(rtPath, "Recover").Call(where, jen.Op("&").Err()),
		take,
	}
	body = append(body, a.checks(jen.Id("s").Dot("max").Dot("Limit").Call(jen.Lit(a.symbol)))...)
	body = append(body, a.begin()...)
	if states := a.states(); len(states) > 0 {
		body = append(body, checked(a.run()))
		for _, p := range states {
			body = append(body, jen.Id("s").Dot(p.kept).Dot("Turn").Call())
		}
		body = append(body, jen.Return(jen.Nil()))
	} else {
		body = append(body, jen.Return(a.run()))
	}
	into, rest := " into dst", " It does not allocate."
	switch a.form {
	case batched:
		into, rest = " into dst, which has an item for each of the batch", "\nIt does not allocate once it has seen a batch of this size."
	case dynamic:
		into, rest = " into dst, whose memory is used again when it is large\nenough", " It does not allocate once it has seen arguments of these shapes."
	}
	params := append([]jen.Code{jen.Id("dst").Add(a.dst())}, a.inputs()...)
	return []jen.Code{
		a.doc(into, rest),
		jen.Func().Params(jen.Id("s").Op("*").Id("Session")).Id(a.spec.Method).Params(params...).Params(jen.Err().Error()).Block(body...),
		jen.Line(),
	}
}

// states returns the ports of the states before a call.
func (a *api) states() []port {
	return slices.DeleteFunc(slices.Clone(a.in), func(p port) bool { return p.kept == "" })
}

// checks prints the checks of what a caller passes, the variables of symbols, and the
// making of room; limit is the largest batch.
func (a *api) checks(limit *jen.Statement) []jen.Code {
	where := jen.Lit(a.where)
	var body []jen.Code
	add := func(call *jen.Statement) { body = append(body, checked(call)) }
	notNil := func(what string, x *jen.Statement) { add(jen.Qual(rtPath, "CheckNil").Call(where, text(what), x)) }
	if a.isPointer() {
		notNil("dst", jen.Id("dst"))
	}
	for _, p := range append(append([]port{}, a.out...), a.in...) {
		switch {
		case p.form == static:
			notNil(p.said, a.given(p))
		case p.form == scalar && p.kind == "input":
			body = append(body, a.host.self().Dot(p.room).Op("=").Add(a.given(p)))
		}
	}
	switch a.form {
	case batched:
		body = append(body, a.checkBatch(limit)...)
	case dynamic:
		body = append(body, a.bind(where)...)
	}
	if a.fn.Plan.Mode != plan.Static {
		add(a.host.self().Dot(a.fn.opens()).Call(a.extents()...))
	} else {
		body = append(body, a.fn.entry)
	}
	for _, p := range a.out {
		if p.form != dynamic || a.late(p) || !p.value.Type.IsTensor() {
			continue
		}
		dims := []jen.Code{}
		for _, d := range p.value.Type.Shape {
			dims = append(dims, a.fn.int(d))
		}
		add(a.given(p).Dot("Resize").Call(append([]jen.Code{where}, dims...)...))
	}
	var dst, args []jen.Code
	for _, p := range seen(a.out) {
		if p.value.Type.IsTensor() {
			dst = append(dst, spanOf(a.flat(p)))
		}
	}
	for _, p := range seen(a.in) {
		if p.value.Type.IsTensor() && p.form != scalar {
			args = append(args, spanOf(a.flat(p)))
		}
	}
	if len(dst) > 0 && len(args) > 0 {
		add(checkOverlap(where, "dst", dst, args))
	}
	return body
}

// checkOverlap prints the check that no result, called what, is written to memory of an
// argument.
func checkOverlap(where jen.Code, what string, dst, args []jen.Code) *jen.Statement {
	spans := func(list []jen.Code) jen.Code { return jen.Index().Qual(rtPath, "Span").Values(list...) }
	return jen.Qual(rtPath, "CheckOverlap").Call(where, jen.Lit(what), spans(dst), spans(args))
}

// spanOf prints the memory of a slice.
func spanOf(x jen.Code) jen.Code { return jen.Qual(rtPath, "SpanOf").Call(x) }

// checkBatch prints the variable of the batch's size and the checks that all agree.
func (a *api) checkBatch(limit *jen.Statement) []jen.Code {
	where, n := jen.Lit(a.where), a.vars[a.symbol]
	body := []jen.Code{jen.Id(n).Op(":=").Add(a.batch())}
	first := true
	for _, p := range a.in {
		if p.form == batched && !first {
			body = append(body, checked(jen.Qual(rtPath, "CheckLen").Call(where, text(p.said), jen.Len(a.given(p)), jen.Id(n))))
		}
		first = first && p.form != batched
	}
	given := false
	for _, p := range a.out {
		if p.form == batched {
			body = append(body, checked(jen.Qual(rtPath, "CheckBatch").Call(where, jen.Id(n), jen.Len(a.given(p)), limit.Clone())))
			given = true
		}
	}
	if !given {
		body = append(body, checked(jen.Qual(rtPath, "CheckBatch").Call(where, jen.Id(n), jen.Id(n), limit)))
	}
	return body
}

// extents prints the variables of the symbols.
func (a *api) extents() []jen.Code {
	var out []jen.Code
	for _, s := range a.symbols {
		out = append(out, jen.Id(a.vars[s]))
	}
	return out
}

// run prints the call of the schedule.
func (a *api) run() *jen.Statement { return a.schedule(a.fn.name, nil) }

// begin prints what makes threads share a schedule.
func (a *api) begin() []jen.Code {
	if !mayShare(a.fn.Func) {
		return nil
	}
	return []jen.Code{jen.Qual(rtPath, "Begin").Call(), jen.Defer().Qual(rtPath, "End").Call()}
}

// schedule prints the call of a schedule, or of its second half, which has seeds.
func (a *api) schedule(name string, seeds []port) *jen.Statement {
	call := a.extents()
	for _, p := range a.out {
		switch {
		case !a.late(p) && p.value.Type.IsTensor():
			call = append(call, a.flat(p))
		case a.outStruct():
			call = append(call, jen.Op("&").Add(a.given(p)))
		default:
			call = append(call, jen.Id("dst"))
		}
	}
	for _, p := range slices.Concat(a.in, seeds) {
		call = append(call, a.flat(p))
	}
	if a.keyed {
		call = append(call, a.host.self().Dot("base").Dot("Key").Call())
	}
	return a.host.self().Dot(name).Call(call...)
}

// bind prints the checks of the arguments' shapes and the variables of symbols.
func (a *api) bind(where *jen.Statement) []jen.Code {
	symbols := a.host.self().Dot(a.fn.table("symbols"))
	index := map[string]int{}
	for i, s := range a.symbols {
		index[s] = i
	}
	var out, later []jen.Code
	bound := map[string]bool{}
	out = append(out, symbols.Clone().Dot("Reset").Call())
	for _, p := range a.in {
		name := jen.Lit(a.where + ": " + p.said)
		if p.form == scalar {
			continue
		}
		if !p.value.Type.IsTensor() {
			if c := checkContainer(name, a.given(p), p.value.Type); c != nil {
				out = append(out, checked(c))
			}
			continue
		}
		want := []jen.Code{name.Clone(), a.given(p).Dot("Shape")}
		for _, d := range p.value.Type.Shape {
			n, isConst := d.Int()
			k, isSymbol := index[d.String()]
			switch {
			case isConst:
				want = append(want, jen.Lit(n))
			case isSymbol:
				bound[d.String()] = true
				want = append(want, jen.Qual(rtPath, "Sym").Call(jen.Lit(k)))
			default:
				want = append(want, jen.Qual(rtPath, "AnyDim"))
			}
		}
		if p.kept != "" {
			begin := append([]jen.Code{name.Clone(), jen.Op("&").Add(symbols.Clone())}, want[2:]...)
			out = append(out, checked(a.host.self().Dot(p.kept).Dot("Begin").Call(begin...)))
		} else {
			out = append(out, checked(jen.Qual(rtPath, "CheckTensor").Call(where.Clone(), text(p.said), a.given(p))))
		}
		out = append(out, checked(symbols.Clone().Dot("CheckShape").Call(want...)))
	}
	for _, p := range a.in {
		for i, d := range p.value.Type.Shape {
			if _, isSymbol := index[d.String()]; isSymbol || d.IsConst() {
				continue
			}
			extent := a.given(p).Dot("Shape").Index(jen.Lit(i))
			if sym, value, ok := a.solve(d, extent, bound); ok {
				bound[sym] = true
				out = append(out, checked(symbols.Clone().Dot("Bind").Call(where.Clone(), jen.Lit(index[sym]), value)))
			}
			later = append(later, checked(jen.Qual(rtPath, "CheckDim").Call(jen.Lit(a.where), text(p.said), extent.Clone(), a.fn.int(d))))
		}
	}
	for i, s := range a.symbols {
		if !bound[s] {
			ir.Fail("no input's shape gives the extent %s", s)
		}
		out = append(out, jen.Id(a.vars[s]).Op(":=").Add(symbols.Clone()).Dot("Value").Call(jen.Lit(i)))
	}
	out = append(out, later...)
	if len(a.symbols) > 0 {
		out = append(out, checked(symbols.Clone().Dot("CheckMax").Call(where.Clone(), a.host.self().Dot("max"))))
	}
	return out
}

// checkContainer prints the check of an argument's tensors, nil for maps.
func checkContainer(where, x *jen.Statement, t ir.Type) *jen.Statement {
	elem, check := *t.Elem, "CheckSequence"
	switch {
	case t.Kind == ir.OptionalKind && elem.Kind == ir.SequenceKind:
		elem, check = *elem.Elem, "CheckOptionalSequence"
	case t.Kind == ir.OptionalKind:
		check = "CheckOptional"
	}
	if !elem.IsTensor() || t.Kind == ir.MapKind {
		return nil
	}
	want := jen.Nil()
	if shape := exec.WantShape(elem); shape != nil {
		var dims []jen.Code
		for _, n := range shape {
			if n == rt.AnyDim {
				dims = append(dims, jen.Qual(rtPath, "AnyDim"))
			} else {
				dims = append(dims, jen.Lit(n))
			}
		}
		want = jen.Index().Int().Values(dims...)
	}
	return jen.Qual(rtPath, check).Call(where, x, want)
}

// solve prints the value that the one unbound symbol of an extent has.
func (a *api) solve(d ir.Dim, extent *jen.Statement, bound map[string]bool) (string, *jen.Statement, bool) {
	var free []string
	for _, s := range d.Symbols() {
		if !bound[s] {
			free = append(free, s)
		}
	}
	if len(free) != 1 {
		return "", nil, false
	}
	coef, rest, ok := d.Linear(free[0])
	c, isConst := coef.Int()
	r, restConst := rest.Int()
	if !ok || !isConst || !restConst || c < 1 {
		return "", nil, false
	}
	value := jen.Parens(extent.Clone().Op("-").Parens(jen.Lit(r))).Op("/").Lit(c)
	return free[0], value, true
}
