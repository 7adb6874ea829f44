package emit

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/gen/gotype"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// port is an input or an output of a function of the API.
type port struct {
	// index is the position among the parameters or the results of the function.
	index int
	value *ir.Value
	name  string // name in the model
	said  string // name in errors
	id    string // name of the parameter or local variable
	field string // field of Inputs or Outputs
	typ   string // exported type, or "" if there is none
	kind  string // "input" or "output"
	// form says how callers pass the value.
	form form
	// saved says that the value is an argument that the trainer has kept for the second half of a
	// training step.
	saved bool
	// room is the session's field for a scalar argument.
	room string
	// kept is the session's field for a state, which callers do not see.
	kept string
}

// seen returns the ports that callers see: ports that are not states of a session.
func seen(ports []port) []port {
	return slices.DeleteFunc(slices.Clone(ports), func(p port) bool { return p.kept != "" })
}

func (p port) elem() *jen.Statement { return jen.Id(gotype.Elem(p.value.Type.DType)) }

// item prints a Go type. For a batched port it is the type of one item of the batch, and for a static port the type
// of the whole tensor.
func (p port) item() *jen.Statement {
	if p.typ == "" {
		return p.elem()
	}
	return jen.Id(p.typ)
}

func (p port) array(skip int) *jen.Statement {
	s := jen.Empty()
	for _, d := range p.value.Type.Shape[skip:] {
		n, _ := d.Int()
		s = s.Index(jen.Lit(n))
	}
	return s.Add(p.elem())
}

type api struct {
	spec    *Function
	host    *host
	form    form
	symbol  string // symbol of the batch
	in, out []port
	// numIn and numOut are the numbers of ports that callers see.
	numIn, numOut int

	symbols []string          // symbols of the function, sorted
	vars    map[string]string // Go variable of each symbol
	where   string            // prefix of errors, such as "digits: Forward"
	fn      *function
	// types are the declarations of the ports' types.
	types []jen.Code
	// result is the type of the struct of results if there are several.
	result string
	// store is the trainer's field that keeps the results, "" in a session.
	store string
	// seeds are the gradients of results that callers pass to the second half of a split function.
	seeds []port
	// extras are the parameters of the schedule after the arguments.
	extras []extra
}

// A schedule is the Go function that executes the steps of a trainer's method. extra describes a parameter that the
// schedule has and the trainer's method does not have. `name` is the name of the parameter. The trainer's method
// passes call.Key() or call.Scale() for it. In generated code, `call` is an *rt.TrainingFrame. `method` is Key or
// Scale.
type extra struct{ name, method string }

func extraOf(d ir.DType) extra {
	if d == ir.F32 {
		return extra{"scale", "Scale"}
	}
	return extra{"key", "Key"}
}

func (a *api) inStruct() bool  { return a.numIn != 1 && a.spec.Inputs != "" }
func (a *api) outStruct() bool { return a.numOut != 1 }

func (a *api) argument(p port) *jen.Statement {
	switch {
	case p.form == static:
		return jen.Op("*").Add(p.item())
	case p.form == batched:
		return jen.Index().Add(p.item())
	case p.form == scalar:
		return p.elem()
	case !p.value.Type.IsTensor():
		return jen.Id(gotype.Of(p.value.Type))
	}
	return jen.Qual(rtPath, "Tensor").Index(p.elem())
}

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

// A generated method may call a function with all of its own arguments. passed prints these arguments: `in`, if the
// method takes them as one struct, or else the name of each parameter.
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

// isPointer reports whether dst is a pointer to the result.
func (a *api) isPointer() bool {
	if a.outStruct() {
		return a.form == dynamic || a.spec.Direct
	}
	only := seen(a.out)[0]
	return only.form == dynamic || only.form == scalar
}

func (a *api) dest() *jen.Statement {
	if a.store != "" {
		return a.host.self().Dot(a.store)
	}
	return jen.Id("dst")
}

// isVariable reports whether the results are fields of a struct or of the trainer. The schedule
// then gets their addresses. Otherwise there is one result, the parameter dst: a pointer, or a
// slice with an element for each item of the batch.
func (a *api) isVariable() bool { return a.outStruct() || a.store != "" }

func (a *api) given(p port) *jen.Statement {
	switch {
	case p.kept != "" && p.kind == "output":
		return a.host.self().Dot(p.kept).Dot("Next")
	case p.kept != "":
		return a.host.self().Dot(p.kept).Dot("Now")
	case p.kind == "output" && a.outStruct():
		return a.dest().Dot(p.field)
	case p.kind == "output":
		return a.dest()
	case p.saved:
		return a.host.self().Dot(a.savedField(p))
	case slices.ContainsFunc(a.seeds, func(s port) bool { return s.id == p.id }):
		return jen.Id(p.id)
	case a.inStruct():
		return jen.Id("in").Dot(p.field)
	}
	return jen.Id(p.id)
}

// late reports whether p is an output with extents that are known only while the model runs.
func (a *api) late(p port) bool { return p.kind == "output" && a.fn.Plan.IsLate(p.value.Type) }

// flat prints the elements of p as a slice. A container is printed as it is.
func (a *api) flat(p port) *jen.Statement {
	switch {
	case p.form == static:
		return jen.Qual(rtPath, "FlatOf").Index(p.elem()).Call(a.given(p))
	case p.form == batched:
		return jen.Qual(rtPath, "Flat").Index(p.elem()).Call(a.given(p))
	case p.form == scalar && p.kind == "input":
		return jen.Qual(rtPath, "FlatOf").Index(p.elem()).Call(jen.Op("&").Add(a.host.self()).Dot(p.room))
	case p.form == scalar && a.isVariable():
		return jen.Qual(rtPath, "FlatOf").Index(p.elem()).Call(jen.Op("&").Add(a.given(p)))
	case p.form == scalar:
		return jen.Qual(rtPath, "FlatOf").Index(p.elem()).Call(a.given(p))
	case !p.value.Type.IsTensor():
		return a.given(p)
	}
	return a.given(p).Dot("Data")
}

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

// doc prints the doc comment of a method: the documentation of the function or, if it has none, a sentence with the
// name of the method. destination, such as " into dst", says where the result is written. It is "" if the method
// returns the result. The comment ends with `rest`.
func (a *api) doc(destination, rest string) prose {
	if a.spec.Doc == "" {
		return prose(a.spec.Method + " computes the model" + destination + "." + rest)
	}
	var text []string
	for line := range strings.Lines(a.spec.Doc) {
		text = append(text, comment(strings.TrimSuffix(line, "\n")))
	}
	if destination != "" {
		destination = "The result is written" + destination + "."
	}
	return prose(strings.Join(text, "\n") + "\n\n" + strings.TrimSpace(destination+rest))
}

func (a *api) modelMethods() []jen.Code {
	with := a.spec.Method + "Context"
	var before []jen.Code
	for _, p := range a.out {
		switch p.form {
		case static:
			before = append(before, a.given(p).Op("=").New(p.item()))
		case batched:
			before = append(before, a.room(a.given(p), jen.Id("dst")))
		}
	}
	rest := " It is safe to call from many goroutines."
	if len(a.states()) > 0 {
		rest += "\nEach call starts with new states. A session keeps its states from call to call."
		before = append(before, jen.Id("s").Dot("Reset").Call())
	}
	target := jen.Id("dst")
	if a.isPointer() {
		target = jen.Op("&").Id("dst")
	}
	return []jen.Code{
		from("Model.Method_", fill{"doc_": a.doc("", rest), "Method_": name(a.spec.Method), "MethodContext_": name(with),
			"Param_": a.inputs(), "param_": a.passed(), "Result_": a.outputs()}),
		from("Model.MethodContext_", fill{"Method_": name(a.spec.Method), "MethodContext_": name(with),
			"Param_": a.inputs(), "param_": a.passed(), "Result_": a.outputs(), "checks_": before, "target_": target}),
	}
}

// room prints the allocation of result, a slice with an element for each item of the batch. If the
// allocation fails, the printed code returns dst and the error.
func (a *api) room(result, dst *jen.Statement) jen.Code {
	room := jen.Qual(rtPath, "Room").Call(jen.Lit(a.where), jen.Op("&").Add(result), a.batch())
	return jen.If(jen.Err().Op(":=").Add(room), jen.Err().Op("!=").Nil()).Block(jen.Return(dst, jen.Err()))
}

func (a *api) batch() *jen.Statement {
	for _, p := range a.in {
		if p.form == batched {
			return jen.Len(a.given(p))
		}
	}
	return nil
}

func (m *method) sessionMethod() jen.Code {
	a := m.api
	into, rest := " into dst", " It does not allocate."
	switch a.form {
	case batched:
		into, rest = " into dst, which has an item for each of the batch", "\nIt does not allocate once it has seen a batch of this size."
	case dynamic:
		into, rest = " into dst, whose memory is used again when it is large\nenough", " It does not allocate once it has seen arguments of these shapes."
	}
	values := fill{"doc_": a.doc(into, rest), "Method_": name(a.spec.Method), "Target_": a.dst(), "Param_": a.inputs(),
		"method_": jen.Op("&").Id(m.descriptor), "passed_": a.checked(), "checks_": a.checks(checked), "schedule_": name(a.fn.name), "param_": a.arguments(nil)}
	states := a.states()
	if len(states) == 0 {
		return from("Session.Method_", values)
	}
	var turns []jen.Code
	for _, p := range states {
		turns = append(turns, jen.Id("s").Dot(p.kept).Dot("Turn").Call())
	}
	values["fields_"], values["MethodKeeping_"] = turns, values["Method_"]
	delete(values, "Method_")
	return from("Session.MethodKeeping_", values)
}

func (a *api) states() []port {
	return slices.DeleteFunc(slices.Clone(a.in), func(p port) bool { return p.kept == "" })
}

type returner func(call *jen.Statement) jen.Code

// checked prints the arguments and results that the runtime checks when a call begins. It leaves out
// results that the call allocates later, and scalar arguments, containers and states.
func (a *api) checked() []jen.Code {
	var out []jen.Code
	switch {
	case a.store != "":
	case a.isPointer() && a.numOut == 1 && seen(a.out)[0].form == scalar:
		out = append(out, passed("OutArray", "dst", jen.Id("dst")))
	case a.isPointer():
		out = append(out, passed("OutStruct", "dst", jen.Id("dst")))
	default:
		for _, p := range a.out {
			out = append(out, a.resultOf(p))
		}
	}
	for _, p := range seen(a.in) {
		switch {
		case p.form == static:
			out = append(out, passed("InArray", p.said, a.given(p)))
		case p.form == batched:
			out = append(out, passed("In", p.said, a.given(p)))
		case p.form == dynamic && p.value.Type.IsTensor():
			out = append(out, passed("InTensor", p.said, a.given(p), a.want(p)...))
		}
	}
	return out
}

// passed prints a call that checks a port: a call of `function`, a function of package rt such as InTensor. The
// arguments of the call are name, x and `more`. name is the port's name in errors, and x is the port's value.
func passed(function, name string, x *jen.Statement, more ...jen.Code) jen.Code {
	return jen.Qual(rtPath, function).Call(append([]jen.Code{Text(name), x}, more...)...)
}

func (a *api) resultOf(p port) jen.Code {
	at := a.given(p)
	if a.isVariable() || p.kept != "" {
		at = jen.Op("&").Add(at)
	}
	switch {
	case p.form == static:
		return passed("OutArray", p.said, a.given(p))
	case p.form == batched && a.store != "":
		return passed("OutGrown", "dst", at, a.batch())
	case p.form == batched:
		return passed("Out", "dst", a.given(p))
	case p.form == scalar && a.store != "", !p.value.Type.IsTensor():
		return nil
	case p.form == scalar:
		return passed("OutArray", p.said, at)
	case a.late(p):
		return passed("OutLate", p.said, at)
	}
	return passed("OutTensor", p.said, at, a.fn.ints(p.value.Type.Shape)...)
}

// checks prints the statements of a method between the beginning of a call and its schedule. They check what the Go
// types of the arguments do not guarantee, set the variables of symbols, and allocate results. ret prints the return
// of errors.
func (a *api) checks(ret returner) []jen.Code {
	var body []jen.Code
	if a.form == dynamic {
		body = a.bind(ret)
	}
	for _, p := range a.in {
		if p.form == scalar {
			body = append(body, a.host.self().Dot(p.room).Op("=").Add(a.given(p)))
		}
	}
	if a.store == "" && (!a.isPointer() || a.numOut == 1 && seen(a.out)[0].form == scalar) {
		return body
	}
	var results []jen.Code
	for _, p := range a.out {
		if r := a.resultOf(p); r != nil {
			results = append(results, r)
		}
	}
	if len(results) > 0 {
		body = append(body, ret(frame("Results").Call(results...)))
	}
	return body
}

func (a *api) extents() []jen.Code {
	if a.form == batched {
		return []jen.Code{a.batch()}
	}
	var out []jen.Code
	for _, s := range a.symbols {
		out = append(out, jen.Id(a.vars[s]))
	}
	return out
}

// arguments prints the arguments of a schedule, except the first, which is the call. seeds are the gradients of
// results, which only the second half of a split training step takes.
func (a *api) arguments(seeds []port) []jen.Code {
	list := a.extents()
	for _, p := range a.out {
		switch {
		case !a.late(p) && p.value.Type.IsTensor():
			list = append(list, a.flat(p))
		case a.isVariable():
			list = append(list, jen.Op("&").Add(a.given(p)))
		default:
			list = append(list, a.given(p))
		}
	}
	for _, p := range slices.Concat(a.in, seeds) {
		list = append(list, a.flat(p))
	}
	for _, extra := range a.extras {
		list = append(list, frame(extra.method).Call())
	}
	return list
}

// want prints the shape that the argument p must have, as arguments of the runtime's check:
// constants, symbols, and AnyDim for other extents.
func (a *api) want(p port) []jen.Code {
	var out []jen.Code
	for _, d := range p.value.Type.Shape {
		n, isConst := d.Int()
		k := slices.Index(a.symbols, d.String())
		switch {
		case isConst:
			out = append(out, jen.Lit(n))
		case k >= 0:
			out = append(out, jen.Qual(rtPath, "Sym").Call(jen.Lit(k)))
		default:
			out = append(out, jen.Qual(rtPath, "AnyDim"))
		}
	}
	return out
}

// isUnbound reports whether some symbol is never a whole extent of an argument. N is a whole extent in [N,3], but not
// in [2·N,3]. isUnbound is true for every function with states.
func (a *api) isUnbound() bool {
	if len(a.states()) > 0 {
		return true
	}
	bound := a.bound()
	return slices.ContainsFunc(a.symbols, func(s string) bool { return !bound[s] })
}

func (a *api) bound() map[string]bool {
	bound := map[string]bool{}
	for _, p := range a.in {
		if p.form == scalar {
			continue
		}
		for _, d := range p.value.Type.Shape {
			if slices.Contains(a.symbols, d.String()) {
				bound[d.String()] = true
			}
		}
	}
	return bound
}

// bind prints declarations of variables for symbols, and checks of shapes. The runtime makes other checks of shapes
// when a call begins. bind fails if no shape gives the value of a symbol.
func (a *api) bind(ret returner) []jen.Code {
	where := jen.Lit(a.where)
	var out, later []jen.Code
	for _, p := range a.in {
		said := jen.Lit(a.where + ": " + p.said)
		switch {
		case p.form == scalar:
		case !p.value.Type.IsTensor():
			if c := checkContainer(said, a.given(p), p.value.Type); c != nil {
				out = append(out, ret(c))
			}
		case p.kept != "":
			want := a.want(p)
			out = append(out,
				ret(a.host.self().Dot(p.kept).Dot("Begin").Call(append([]jen.Code{said, jen.Op("&").Add(frame("Symbols"))}, want...)...)),
				ret(frame("Symbols").Dot("CheckShape").Call(append([]jen.Code{said.Clone(), a.given(p).Dot("Shape")}, want...)...)))
		}
	}
	bound := a.bound()
	for _, p := range a.in {
		for i, d := range p.value.Type.Shape {
			if d.IsConst() || slices.Contains(a.symbols, d.String()) {
				continue
			}
			extent := a.given(p).Dot("Shape").Index(jen.Lit(i))
			if sym, value, ok := a.solve(d, extent, bound); ok {
				bound[sym] = true
				out = append(out, ret(frame("Symbols").Dot("Bind").Call(where.Clone(), jen.Lit(slices.Index(a.symbols, sym)), value)))
			}
			later = append(later, ret(jen.Qual(rtPath, "CheckDim").Call(where.Clone(), Text(p.said), extent.Clone(), a.fn.int(d))))
		}
	}
	for _, s := range a.symbols {
		if !bound[s] {
			ir.Fail("no input's shape gives the extent %s", s)
		}
	}
	out = append(append(out, a.symbolVars()...), later...)
	if a.isUnbound() {
		out = append(out, ret(frame("Open").Call()))
	}
	return out
}

func (a *api) symbolVars() []jen.Code {
	var names, values []jen.Code
	for i, s := range a.symbols {
		names, values = append(names, jen.Id(a.vars[s])), append(values, frame("Extent").Call(jen.Lit(i)))
	}
	if len(names) == 0 {
		return nil
	}
	return []jen.Code{jen.List(names...).Op(":=").List(values...)}
}

// checkContainer prints the check of the tensors in x, an argument of the container type t. prefix
// begins the text of errors. The result is nil unless t is a sequence of tensors, an optional
// tensor, or an optional sequence of tensors.
func checkContainer(prefix, x *jen.Statement, t ir.Type) *jen.Statement {
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
	if elem.Shape != nil {
		dims := []jen.Code{}
		for _, d := range elem.Shape {
			if n, ok := d.Int(); ok {
				dims = append(dims, jen.Lit(n))
			} else {
				dims = append(dims, jen.Qual(rtPath, "AnyDim"))
			}
		}
		want = jen.Index().Int().Values(dims...)
	}
	return jen.Qual(rtPath, check).Call(prefix, x, want)
}

// solve solves d = extent for the only symbol of d that does not have a value yet. It returns the symbol, and
// prints the symbol's value. `bound` holds the symbols that have a value. solve returns false unless d is c·symbol
// + r with integers c > 0 and r.
func (a *api) solve(d dim.Dim, extent *jen.Statement, bound map[string]bool) (string, *jen.Statement, bool) {
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
