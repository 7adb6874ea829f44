package emit

import (
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/plan"
	"github.com/burngen/burngen/runtime/rt"
)

// form tells how callers pass tensors: which row of the API table a model has.
type form uint8

const (
	static  form = iota // pointers to arrays
	batched             // slices of arrays, one for each item of the batch
	dynamic             // rt.Tensor
)

// formOf returns the form of a function: static when all extents are, batched
// when the first extent of everything is one symbol and the rest is static.
func formOf(f *ir.Func) (form, string) {
	values := append(append([]*ir.Value{}, f.Params...), f.Results...)
	symbols := f.Symbols()
	isStatic := true
	for _, v := range values {
		isStatic = isStatic && v.Type.IsStatic() && !plan.IsHeld(v.Type)
	}
	if isStatic && len(values) > 0 {
		return static, ""
	}
	if len(symbols) != 1 {
		return dynamic, ""
	}
	for _, v := range values {
		t := v.Type
		if t.Rank() == 0 || !t.Shape[0].Equal(ir.Sym(symbols[0])) || !ir.TensorOf(t.DType, t.Shape[1:]...).IsStatic() || plan.IsHeld(t) {
			return dynamic, ""
		}
	}
	return batched, symbols[0]
}

// port is an input or output as callers see it.
type port struct {
	index int
	value *ir.Value
	name  string // the model's
	id    string // parameter or local variable
	field string // of Inputs or Outputs
	typ   string // exported type, "" in the dynamic form
	kind  string // "input" or "output"
}

func (p port) elem() *jen.Statement { return jen.Id(goType(p.value.Type.DType)) }

// array prints the array type of the last dimensions of p, from the given one on.
func (p port) array(from int) *jen.Statement {
	s := jen.Empty()
	for _, d := range p.value.Type.Shape[from:] {
		n, _ := d.Int()
		s = s.Index(jen.Lit(n))
	}
	return s.Add(p.elem())
}

// api prints model.go's types and methods.
type api struct {
	m       *Model
	form    form
	symbol  string // of the batch
	in, out []port
	symbols []string          // of the function, sorted
	vars    map[string]string // symbol → variable
	where   string            // "digits: Forward"
	fn      *function
}

// in1 and out1 tell whether a struct is spared because there is one only.
func (a *api) oneIn() bool  { return len(a.in) == 1 }
func (a *api) oneOut() bool { return len(a.out) == 1 }

// argument prints the type in which a caller passes a port's tensor.
func (a *api) argument(p port) *jen.Statement {
	switch a.form {
	case static:
		return jen.Op("*").Id(p.typ)
	case batched:
		return jen.Index().Id(p.typ)
	}
	if !p.value.Type.IsTensor() {
		return jen.Id(heldType(p.value.Type))
	}
	return jen.Qual(rtPath, "Tensor").Index(p.elem())
}

// inputs prints the parameters of Forward.
func (a *api) inputs() jen.Code {
	if a.oneIn() {
		return jen.Id(a.in[0].id).Add(a.argument(a.in[0]))
	}
	return jen.Id("in").Id("Inputs")
}

// outputs prints the type of Forward's result, and dst the one it is written to.
func (a *api) outputs() *jen.Statement {
	if a.oneOut() {
		return a.argument(a.out[0])
	}
	return jen.Id("Outputs")
}

func (a *api) dst() *jen.Statement {
	if a.form == dynamic {
		return jen.Op("*").Add(a.outputs())
	}
	return a.outputs()
}

// given prints the expression of a port inside Session.Forward.
func (a *api) given(p port) *jen.Statement {
	if p.kind == "input" {
		if a.oneIn() {
			return jen.Id(p.id)
		}
		return jen.Id("in").Dot(p.field)
	}
	if a.oneOut() {
		return jen.Id("dst")
	}
	return jen.Id("dst").Dot(p.field)
}

// late reports whether an output has extents that are known only while the model
// runs.
func (a *api) late(p port) bool { return p.kind == "output" && a.m.Forward.Plan.IsLate(p.value.Type) }

// flat prints the elements of a port as a slice.
func (a *api) flat(p port) *jen.Statement {
	switch a.form {
	case static:
		return jen.Qual(rtPath, "FlatOf").Index(p.elem()).Call(a.given(p))
	case batched:
		return jen.Qual(rtPath, "Flat").Index(p.elem()).Call(a.given(p))
	}
	if !p.value.Type.IsTensor() {
		return a.given(p)
	}
	return a.given(p).Dot("Data")
}

func (a *api) typeDecls() []jen.Code {
	var out []jen.Code
	for _, p := range append(append([]port{}, a.in...), a.out...) {
		if a.form == dynamic {
			break
		}
		from, what := 0, "is "+p.kind
		if a.form == batched {
			from, what = 1, "is one item of "+p.kind
		}
		out = append(out, jen.Comment(p.typ+" "+what+" "+comment(strconv.QuoteToASCII(p.name))+": "+p.value.Type.String()+"."),
			jen.Type().Id(p.typ).Op("=").Add(p.array(from)), jen.Line())
	}
	if !a.oneIn() {
		out = append(out, a.structDecl("Inputs", "holds the arguments of Forward.", a.in)...)
	}
	if !a.oneOut() {
		out = append(out, a.structDecl("Outputs", "holds the results of Forward.", a.out)...)
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

// modelForward prints Model.Forward and Model.ForwardContext.
func (a *api) modelForward() []jen.Code {
	args := "in"
	if a.oneIn() {
		args = a.in[0].id
	}
	call := jen.Id("m").Dot("ForwardContext").Call(jen.Qual("context", "Background").Call(), jen.Id(args))
	body := []jen.Code{
		jen.List(jen.Id("s"), jen.Err()).Op(":=").Id("m").Dot("sessions").Dot("Get").Call(jen.Id("ctx")),
		jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Id("dst"), jen.Err())),
		jen.Defer().Id("m").Dot("sessions").Dot("Put").Call(jen.Id("s")),
	}
	for _, p := range a.out {
		switch a.form {
		case static:
			body = append(body, a.given(p).Op("=").New(jen.Id(p.typ)))
		case batched:
			body = append(body, a.given(p).Op("=").Make(a.argument(p), jen.Len(a.given(a.in[0]))))
		}
	}
	target := jen.Id("dst")
	if a.form == dynamic {
		target = jen.Op("&").Id("dst")
	}
	body = append(body,
		jen.Id("s").Dot("SetContext").Call(jen.Id("ctx")),
		jen.Return(jen.Id("dst"), jen.Id("s").Dot("Forward").Call(target, jen.Id(args))))
	return []jen.Code{
		jen.Comment("Forward computes the model. It is safe to call from many goroutines."),
		jen.Func().Params(jen.Id("m").Op("*").Id("Model")).Id("Forward").Params(a.inputs()).Params(a.outputs(), jen.Error()).Block(jen.Return(call)),
		jen.Line(),
		jen.Comment(lines("ForwardContext is Forward that ends early, with the context's error, when ctx is\ndone; a nil ctx never is.")),
		jen.Func().Params(jen.Id("m").Op("*").Id("Model")).Id("ForwardContext").Params(jen.Id("ctx").Qual("context", "Context"), a.inputs()).Params(jen.Id("dst").Add(a.outputs()), jen.Err().Error()).Block(body...),
		jen.Line(),
	}
}

// sessionForward prints Session.Forward.
func (a *api) sessionForward() []jen.Code {
	where := jen.Lit(a.where)
	check := func(call *jen.Statement) jen.Code {
		return jen.If(jen.Err().Op(":=").Add(call), jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Err()))
	}
	body := []jen.Code{
		check(jen.Id("s").Dot("guard").Dot("Enter").Call()),
		jen.Defer().Id("s").Dot("guard").Dot("Leave").Call(),
		jen.Defer().Qual(rtPath, "Recover").Call(where, jen.Op("&").Err()),
		jen.Id("s").Dot("weights").Op("=").Id("s").Dot("model").Dot("weights").Dot("Load").Call(),
	}
	var open []jen.Code
	switch a.form {
	case static:
		for _, p := range append(append([]port{}, a.out...), a.in...) {
			body = append(body, check(jen.Qual(rtPath, "CheckNil").Call(where, text(p.id), a.given(p))))
		}
	case batched:
		n := a.vars[a.symbol]
		body = append(body, jen.Id(n).Op(":=").Len(a.given(a.in[0])))
		for _, p := range a.in[1:] {
			body = append(body, check(jen.Qual(rtPath, "CheckLen").Call(where, text(p.id), jen.Len(a.given(p)), jen.Id(n))))
		}
		for _, p := range a.out {
			body = append(body, check(jen.Qual(rtPath, "CheckBatch").Call(where, jen.Id(n), jen.Len(a.given(p)), jen.Id("s").Dot("max").Dot("Limit").Call(jen.Lit(a.symbol)))))
		}
		open = append(open, jen.Id(n))
	case dynamic:
		body = append(body, check(jen.Qual(rtPath, "CheckNil").Call(where, jen.Lit("dst"), jen.Id("dst"))))
		body = append(body, a.bind(where, check)...)
		for _, s := range a.symbols {
			open = append(open, jen.Id(a.vars[s]))
		}
	}
	if a.fn.Plan.Mode != plan.Static {
		body = append(body, check(jen.Id("s").Dot("open").Call(open...)))
	}
	if a.form == dynamic {
		for _, p := range a.out {
			if a.late(p) || !p.value.Type.IsTensor() {
				continue
			}
			dims := []jen.Code{}
			for _, d := range p.value.Type.Shape {
				dims = append(dims, a.fn.int(d))
			}
			body = append(body, check(a.given(p).Dot("Resize").Call(append([]jen.Code{where}, dims...)...)))
		}
	}
	for _, o := range a.out {
		for _, i := range a.in {
			if !o.value.Type.IsTensor() || !i.value.Type.IsTensor() {
				continue
			}
			body = append(body, check(jen.Qual(rtPath, "CheckOverlap").Call(where, jen.Lit("dst"), a.flat(o), a.flat(i))))
		}
	}
	call := append([]jen.Code{}, open...)
	for _, p := range a.out {
		switch {
		case !a.late(p) && p.value.Type.IsTensor():
			call = append(call, a.flat(p))
		case a.oneOut():
			call = append(call, jen.Id("dst"))
		default:
			call = append(call, jen.Op("&").Add(a.given(p)))
		}
	}
	for _, p := range a.in {
		call = append(call, a.flat(p))
	}
	if mayShare(a.m.Forward) {
		body = append(body, jen.Qual(rtPath, "Begin").Call(), jen.Defer().Qual(rtPath, "End").Call())
	}
	body = append(body,
		jen.Return(jen.Id("s").Dot("forward").Call(call...)))
	doc := "Forward computes the model into dst. It does not allocate."
	switch a.form {
	case batched:
		doc = "Forward computes the model into dst, which has an item for each of the batch.\nIt does not allocate once it has seen a batch of this size."
	case dynamic:
		doc = "Forward computes the model into dst, whose memory is used again when it is large\nenough. It does not allocate once it has seen arguments of these shapes."
	}
	return []jen.Code{
		jen.Comment(lines(doc)),
		jen.Func().Params(jen.Id("s").Op("*").Id("Session")).Id("Forward").Params(jen.Id("dst").Add(a.dst()), a.inputs()).Params(jen.Err().Error()).Block(body...),
		jen.Line(),
	}
}

// bind prints the checks of the arguments' shapes and the variables of symbols.
func (a *api) bind(where *jen.Statement, check func(*jen.Statement) jen.Code) []jen.Code {
	index := map[string]int{}
	for i, s := range a.symbols {
		index[s] = i
	}
	var out, later []jen.Code
	bound := map[string]bool{}
	out = append(out, jen.Id("s").Dot("symbols").Dot("Reset").Call())
	for _, p := range a.in {
		name := jen.Lit(a.where + ": " + p.id)
		if !p.value.Type.IsTensor() {
			if c := checkContainer(name, a.given(p), p.value.Type); c != nil {
				out = append(out, check(c))
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
		out = append(out, check(jen.Qual(rtPath, "CheckTensor").Call(where.Clone(), text(p.id), a.given(p))), check(jen.Id("s").Dot("symbols").Dot("CheckShape").Call(want...)))
	}
	for _, p := range a.in {
		for i, d := range p.value.Type.Shape {
			if _, isSymbol := index[d.String()]; isSymbol || d.IsConst() {
				continue
			}
			extent := a.given(p).Dot("Shape").Index(jen.Lit(i))
			if sym, value, ok := a.solve(d, extent, bound); ok {
				bound[sym] = true
				out = append(out, check(jen.Id("s").Dot("symbols").Dot("Bind").Call(where.Clone(), jen.Lit(index[sym]), value)))
			}
			later = append(later, check(jen.Qual(rtPath, "CheckDim").Call(jen.Lit(a.where), text(p.id), extent.Clone(), a.fn.int(d))))
		}
	}
	for i, s := range a.symbols {
		if !bound[s] {
			ir.Fail("no input's shape gives the extent %s", s)
		}
		out = append(out, jen.Id(a.vars[s]).Op(":=").Id("s").Dot("symbols").Dot("Value").Call(jen.Lit(i)))
	}
	out = append(out, later...)
	if len(a.symbols) > 0 {
		out = append(out, check(jen.Id("s").Dot("symbols").Dot("CheckMax").Call(where.Clone(), jen.Id("s").Dot("max"))))
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
