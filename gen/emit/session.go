package emit

import (
	"github.com/dave/jennifer/jen"
)

func (e *emitter) sessionType(f *jen.File) {
	h := e.session
	f.Add(from("Session", fill{"Field_": append(e.deviceFields(), h.fields()...)}))
	var methods []jen.Code
	for _, m := range h.methods {
		methods = append(methods, jen.Op("&").Id(m.descriptor))
	}
	values := fill{"method_": methods, "fields_": append(e.openDevice(h), h.calls()...)}
	if symbols := h.symbols(); len(symbols) == 0 {
		f.Add(from("Model.NewSession_static", values))
	} else {
		limits := jen.Id("limits")
		if given := e.limits(symbols); len(given) > 0 {
			limits = limits.Dot("Within").Call(jen.Qual(rtPath, "Max").Values(given...))
		}
		values["where_"], values["symbol_"], values["limits_"] = jen.Lit(e.Title+": NewSession"), literals(symbols), limits
		f.Add(from("Model.NewSession", values))
	}
	f.Add(from("Session.SetContext", nil))
	if states := h.states(); len(states) > 0 {
		var resets []jen.Code
		for _, p := range states {
			resets = append(resets, h.self().Dot(p.kept).Dot("Reset").Call())
		}
		f.Add(from("Session.Reset", fill{"fields_": resets}))
	}
}

func (e *emitter) limits(symbols []string) []jen.Code {
	var out []jen.Code
	for _, s := range symbols {
		if n, ok := e.Limits[s]; ok {
			out = append(out, jen.Lit(s).Op(":").Lit(n))
		}
	}
	return out
}
