package emit

import (
	"fmt"
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/gen/gotype"
	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/ir"
)

func (m *method) schedule(f *jen.File) {
	var params []parameter
	for _, s := range m.symbols {
		params = append(params, parameter{m.vars[s], "int"})
	}
	for _, p := range m.out {
		typ := gotype.Of(p.value.Type)
		switch {
		case !p.value.Type.IsTensor():
			typ = "*" + typ
		case m.late(p):
			typ = tensorPointer(p.value.Type)
		}
		params = append(params, parameter{p.id, typ})
	}
	for _, p := range m.in {
		params = append(params, parameter{p.id, gotype.Of(p.value.Type)})
	}
	var extras, seeds []parameter
	for i := range m.extras {
		k := len(m.in) + len(m.seeds) + i
		extras = append(extras, parameter{m.fn.params[k], gotype.Of(m.fn.IR.Params[k].Type)})
	}
	for _, p := range m.seeds {
		seeds = append(seeds, parameter{p.id, gotype.Of(p.value.Type)})
	}
	doc := m.fn.name + " is the schedule: it computes the outputs from the inputs."
	if m.host.typ != "Session" || m != m.host.methods[0] {
		doc = m.fn.name + " is the schedule of " + m.spec.Method + "."
	}
	if m.halves == nil {
		m.print(f, m.fn, doc, slices.Concat(params, extras))
	} else {
		m.print(f, m.halves[0], doc, slices.Concat(params, extras))
		m.print(f, m.halves[1], m.halves[1].names[0]+" is what follows of it, once the gradients are known.", slices.Concat(params, seeds, extras))
	}
	for _, c := range m.callees {
		params := []parameter{}
		for _, s := range c.IR.Symbols() {
			params = append(params, parameter{c.symbols[s], "int"})
		}
		for _, base := range c.bases {
			params = append(params, parameter{base, "int"})
		}
		for i, r := range c.IR.Results {
			typ := gotype.Of(r.Type)
			switch {
			case !r.Type.IsTensor():
				typ = "*" + typ
			case c.Plan.IsLate(r.Type):
				typ = tensorPointer(r.Type)
			}
			params = append(params, parameter{c.results[i], typ})
		}
		for i, p := range c.IR.Params {
			params = append(params, parameter{c.params[i], gotype.Of(p.Type)})
		}
		doc := c.name + " is a block that the schedule runs more than once, each time with other weights."
		if len(c.fits.callers) > 1 {
			doc = c.name + " is a part that several schedules have, with weights and memory of their own."
		}
		if m.ofControl(c) {
			doc = c.name + " is what control flow of the model runs."
		}
		m.print(f, c, doc, params)
	}
	for _, fn := range m.all() {
		fn.fits.print()
	}
}

type parameter struct{ name, typ string }

func tensorPointer(t ir.Type) string { return "*rt.Tensor[" + gotype.Elem(t.DType) + "]" }

// part is one of the Go functions into which a schedule is split. It executes consecutive steps.
type part struct {
	name, doc string
	params    []parameter // available parameters: the schedule's, and symbols bound before
	body      []jen.Code
	end       jen.Code        // the return statement
	read      map[string]bool // names of the parameters that it and its callees read
	// leads is set for the first part, and for each part that binds symbols or may end the schedule.
	// A part that leads calls the parts after it, up to and including the next part that leads.
	leads bool
}

func (m *method) print(f *jen.File, fn *function, doc string, params []parameter) {
	parts := m.parts(fn, doc, params)
	last := len(parts) // the next part that leads: the last one that this one calls
	for i, p := range slices.Backward(parts) {
		if !p.leads {
			continue
		}
		var calls []*jen.Statement
		for _, next := range parts[i+1 : min(last+1, len(parts))] {
			args := []jen.Code{jen.Id("call")}
			for _, a := range next.given() {
				args = append(args, jen.Id(a.name))
				p.read[a.name] = true
			}
			calls = append(calls, m.host.self().Dot(next.name).Call(args...))
		}
		for k, call := range calls {
			if k+1 < len(calls) {
				p.body = append(p.body, checked(call))
			} else {
				p.end = call
			}
		}
		last = i
	}
	for i, p := range parts {
		given := p.given()
		if i == 0 {
			given = params
		}
		given = append([]parameter{{"call", m.host.frame()}}, given...)
		note(f, p.doc)
		result := jen.Error()
		if i == 0 && m.begins(fn) {
			result = jen.Params(jen.Err().Error())
		}
		f.Func().Params(m.host.self().Op("*").Id(m.host.typ)).Id(p.name).Params(signature(given)...).Add(result).Block(append(p.body, jen.Return(p.end))...)
	}
}

func (p *part) given() []parameter {
	return slices.DeleteFunc(slices.Clone(p.params), func(a parameter) bool { return !p.read[a.name] })
}

func signature(params []parameter) []jen.Code {
	var out []jen.Code
	for i, p := range params {
		if i+1 < len(params) && params[i+1].typ == p.typ {
			out = append(out, jen.Id(p.name))
		} else {
			out = append(out, jen.Id(p.name).Id(p.typ))
		}
	}
	return out
}

func (m *method) parts(fn *function, doc string, params []parameter) []*part {
	runs := fn.parts()
	var out []*part
	for i, steps := range runs {
		p := &part{name: fn.names[i], doc: doc, params: params, end: jen.Nil()}
		if i > 0 {
			p.doc = fmt.Sprintf("%s is part %d of %d of %s.", p.name, i+1, len(runs), fn.name)
		}
		for _, s := range binds(steps) {
			params = append(params, parameter{fn.symbols[s], "int"})
			if i+1 < len(runs) {
				fn.used[s] = true
			}
		}
		sure := len(fn.fits.sure)
		body, used := fn.body(steps)
		if len(binds(steps))+len(tripSymbols(steps)) > 0 {
			fn.fits.sure = fn.fits.sure[:sure]
			body, used = fn.body(steps) // now that it is known which symbols are used
		}
		p.read = fn.read
		p.leads = i == 0 || len(binds(steps)) > 0 || fn.mayEnd(steps)
		if len(binds(steps)) > 0 {
			for _, a := range p.params { // binding may compute extents of these
				p.read[a.name] = p.read[a.name] || a.typ == "int"
			}
		}
		whole := fn == m.fn || m.halves != nil && fn == m.halves[0]
		if fn.placed {
			body = append([]jen.Code{jen.Id("off").Op(":=").Add(frame("Offsets")).Call(jen.Lit(m.place(fn)))}, body...)
		}
		if i == 0 && (whole || len(fn.bases) > 0) {
			body = append([]jen.Code{fn.entry}, body...)
		}
		if used.gradients {
			body = append([]jen.Code{jen.Id("g").Op(":=").Add(frame("Changes"))}, body...)
		}
		if len(used.weights) > 0 {
			body = append([]jen.Code{jen.Id("w").Op(":=").Add(frame("Weights"))}, body...)
		}
		tail := frame("Tail")
		switch {
		case i > 0:
		case whole && slices.ContainsFunc(m.all(), func(f *function) bool { return len(f.Plan.Tails) > 0 }):
			body = append([]jen.Code{tail.Dot("Reset").Call()}, body...)
		case len(fn.Plan.Tails) > 0:
			body = append([]jen.Code{jen.Defer().Add(tail.Clone()).Dot("Release").Call(tail.Clone().Dot("Mark").Call())}, body...)
		}
		if i == 0 && m.begins(fn) {
			body = append(m.beginDevice(fn, params), body...)
		}
		p.body = append([]jen.Code{checked(jen.Qual(rtPath, "Done").Call(frame("Ctx")))}, body...)
		out = append(out, p)
	}
	return out
}

func (m *method) ofControl(fn *function) bool {
	for _, f := range m.all() {
		for _, s := range f.Steps {
			switch s := s.(type) {
			case *program.Branch:
				if s.Then.Callee == fn.Func || s.Otherwise.Callee == fn.Func {
					return true
				}
			case *program.Repeat:
				if s.Callee == fn.Func {
					return true
				}
			}
		}
	}
	return false
}
