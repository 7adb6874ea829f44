package emit

import (
	"github.com/dave/jennifer/jen"
)

func (e *emitter) sessionType(f *jen.File) {
	h := e.session
	symbols := h.symbols()
	fields := append([]jen.Code{
		jen.Id("model").Op("*").Id("Model"),
		jen.Id("weights").Op("*").Id("weights").Comment("of the call that runs"),
		jen.Id("guard").Qual(rtPath, "Guard"),
		jen.Id("ctx").Qual("context", "Context"),
		jen.Id("arena").Index().Byte(),
	}, h.fields()...)
	note(f, "Session holds the memory of one call at a time. A call while another runs returns\nrt.ErrBusy.")
	f.Type().Id("Session").Struct(fields...)

	values := []jen.Code{jen.Id("model").Op(":").Id("m")}
	body := []jen.Code{loaded(jen.Nil())}
	doc, param := "NewSession opens a session.", "_"
	if len(symbols) > 0 {
		doc = "NewSession opens a session. A call with an extent above limits returns an error. Nil\nlimits allow every extent. The session's memory grows with what it is called with."
		param = "limits"
		body = append(body, jen.If(jen.Err().Op(":=").Id(param).Dot("Check").Call(append([]jen.Code{jen.Lit(e.Title + ": NewSession")}, literals(symbols)...)...), jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())))
		given := jen.Id(param)
		if limits := e.limits(symbols); len(limits) > 0 {
			given = given.Dot("Within").Call(jen.Qual(rtPath, "Max").Values(limits...))
		}
		values = append(values, jen.Id("max").Op(":").Add(given))
	}
	values = append(values, h.values()...)
	if e.Raw {
		body = append(body, jen.If(jen.List(jen.Id("_"), jen.Err()).Op(":=").Id("m").Dot("weights").Dot("Load").Call().Dot("Get").Call(), jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())))
	}
	if _, static := h.staticBytes(); static {
		body = append(body,
			jen.List(jen.Id("arena"), jen.Err()).Op(":=").Qual(rtPath, "NewArena").Call(jen.Id("arenaLen")),
			jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())))
		values = append(values, jen.Id("arena").Op(":").Id("arena"))
	}
	session := jen.Op("&").Id("Session").Values(values...)
	if calls := h.calls(); len(calls) > 0 {
		body = append(append(body, jen.Id("s").Op(":=").Add(session)), calls...)
		session = jen.Id("s")
	}
	body = append(body, jen.Return(session, jen.Nil()))
	note(f, doc)
	f.Func().Params(jen.Id("m").Op("*").Id("Model")).Id("NewSession").Params(jen.Id(param).Qual(rtPath, "Max")).Params(jen.Op("*").Id("Session"), jen.Error()).Block(body...)

	note(f, "SetContext makes the calls that follow end early, with the context's error, when ctx\nis done; a nil ctx never is.")
	f.Func().Params(jen.Id("s").Op("*").Id("Session")).Id("SetContext").Params(jen.Id("ctx").Qual("context", "Context")).Block(
		jen.If(jen.Id("s").Op("!=").Nil()).Block(jen.Id("s").Dot("ctx").Op("=").Id("ctx")))
	note(f, "enter begins a call.")
	f.Func().Params(jen.Id("s").Op("*").Id("Session")).Id("enter").Params().Error().Block(
		jen.If(jen.Id("s").Op("==").Nil().Op("||").Id("s").Dot("model").Op("==").Nil()).Block(jen.Return(jen.Qual(rtPath, "ErrNoSession"))),
		jen.Return(jen.Id("s").Dot("guard").Dot("Enter").Call()))
	note(f, "leave ends a call: the session holds no weights between two.")
	f.Func().Params(jen.Id("s").Op("*").Id("Session")).Id("leave").Params().Block(
		jen.Id("s").Dot("weights").Op("=").Nil(),
		jen.Id("s").Dot("guard").Dot("Leave").Call())
	if states := h.states(); len(states) > 0 {
		body := []jen.Code{jen.If(jen.Id("s").Op("==").Nil()).Block(jen.Return())}
		for _, p := range states {
			body = append(body, jen.Id("s").Dot(p.kept).Dot("Reset").Call())
		}
		note(f, "Reset makes states what they are before the first call: zeros, of no extent along\nsymbols that no argument has.")
		f.Func().Params(jen.Id("s").Op("*").Id("Session")).Id("Reset").Params().Block(body...)
	}
	for _, m := range h.methods {
		m.open(f)
	}
}

// takeWeights prints how a call takes the model's weights.
func (e *emitter) takeWeights() jen.Code {
	held, own := jen.Id("s").Dot("model").Dot("weights").Dot("Load").Call(), jen.Id("s").Dot("weights")
	if !e.Raw {
		return own.Op("=").Add(held)
	}
	return jen.If(jen.List(own, jen.Err()).Op("=").Add(held).Dot("Get").Call(), jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Err()))
}

// limits prints the largest extents that were given when the model was compiled.
func (e *emitter) limits(symbols []string) []jen.Code {
	var out []jen.Code
	for _, s := range symbols {
		if n, ok := e.Limits[s]; ok {
			out = append(out, jen.Lit(s).Op(":").Lit(n))
		}
	}
	return out
}
