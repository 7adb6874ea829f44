package emit

import (
	"fmt"
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/gen/program"
)

// schedule prints a method's schedule and the functions that it calls.
func (m *method) schedule(f *jen.File) {
	var params []parameter
	for _, s := range m.symbols {
		params = append(params, parameter{m.vars[s], jen.Int()})
	}
	for _, p := range m.out {
		typ := jen.Id(heldType(p.value.Type))
		if m.late(p) || !p.value.Type.IsTensor() {
			typ = jen.Op("*").Add(m.argument(p))
		}
		params = append(params, parameter{p.id, typ})
	}
	for _, p := range m.in {
		params = append(params, parameter{p.id, jen.Id(heldType(p.value.Type))})
	}
	var key, seeds []parameter
	if m.keyed {
		key = append(key, parameter{m.fn.params[len(m.in)+len(m.seeds)], jen.Index().Int64()})
	}
	for _, p := range m.seeds {
		seeds = append(seeds, parameter{p.id, jen.Id(heldType(p.value.Type))})
	}
	doc := m.fn.name + " is the schedule: it computes the outputs from the inputs."
	if m.host.typ != "Session" || m != m.host.methods[0] {
		doc = m.fn.name + " is the schedule of " + m.spec.Method + "."
	}
	if m.halves == nil {
		m.print(f, m.fn, doc, slices.Concat(params, key))
	} else {
		m.print(f, m.halves[0], doc, slices.Concat(params, key))
		m.print(f, m.halves[1], m.halves[1].names[0]+" is what follows of it, once the gradients are known.", slices.Concat(params, seeds, key))
	}
	for _, c := range m.callees {
		params := []parameter{}
		for _, s := range c.IR.Symbols() {
			params = append(params, parameter{c.symbols[s], jen.Int()})
		}
		params = append(params, parameter{c.base, jen.Int()})
		for i, r := range c.IR.Results {
			typ := jen.Id(heldType(r.Type))
			if !r.Type.IsTensor() {
				typ = jen.Op("*").Add(typ)
			} else if c.Plan.IsLate(r.Type) {
				typ = jen.Op("*").Qual(rtPath, "Tensor").Index(jen.Id(goType(r.Type.DType)))
			}
			params = append(params, parameter{c.results[i], typ})
		}
		for i, p := range c.IR.Params {
			params = append(params, parameter{c.params[i], jen.Id(heldType(p.Type))})
		}
		doc := c.name + " is a block that the schedule runs more than once, each time with other weights."
		if m.ofControl(c) {
			doc = c.name + " is what control flow of the model runs."
		}
		m.print(f, c, doc, params)
	}
	for _, fn := range m.all() {
		fn.fits.print()
	}
}

// parameter is a parameter of a printed method.
type parameter struct {
	name string
	typ  *jen.Statement
}

// print prints the steps of a function, in parts when there are many.
func (m *method) print(f *jen.File, fn *function, doc string, params []parameter) {
	self := m.host.self
	parts := fn.parts()
	for i, steps := range parts {
		name := fn.names[i]
		if i > 0 {
			doc = fmt.Sprintf("%s is part %d of %d of %s.", name, i+1, len(parts), fn.name)
		}
		var given []jen.Code
		for i, p := range params {
			if i+1 < len(params) && params[i+1].typ.GoString() == p.typ.GoString() {
				given = append(given, jen.Id(p.name))
			} else {
				given = append(given, jen.Id(p.name).Add(p.typ.Clone()))
			}
		}
		for _, s := range binds(steps) {
			params = append(params, parameter{fn.symbols[s], jen.Int()})
			if i+1 < len(parts) {
				fn.used[s] = true
			}
		}
		sure := len(fn.fits.sure)
		body, used := fn.body(steps)
		if len(binds(steps))+len(tripSymbols(steps)) > 0 {
			fn.fits.sure = fn.fits.sure[:sure]
			body, used = fn.body(steps) // now that it is known which symbols are used
		}
		if i == 0 && fn.base != "" {
			body = append([]jen.Code{fn.entry}, body...)
		}
		if used.gradients {
			body = append([]jen.Code{jen.Id("g").Op(":=").Add(self()).Dot("changes")}, body...)
		}
		if len(used.weights) > 0 {
			body = append([]jen.Code{jen.Id("w").Op(":=").Add(self()).Dot("weights")}, body...)
		}
		tail := self().Dot("tail")
		switch {
		case i > 0:
		case (fn == m.fn || m.halves != nil && fn == m.halves[0]) && slices.ContainsFunc(m.all(), func(f *function) bool { return len(f.Plan.Tails) > 0 }):
			body = append([]jen.Code{tail.Dot("Reset").Call()}, body...)
		case len(fn.Plan.Tails) > 0:
			body = append([]jen.Code{jen.Defer().Add(tail.Clone()).Dot("Release").Call(tail.Clone().Dot("Mark").Call())}, body...)
		}
		body = append([]jen.Code{jen.If(jen.Err().Op(":=").Qual(rtPath, "Done").Call(self().Dot("ctx")), jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Err()))}, body...)
		if i+1 < len(parts) {
			var args []jen.Code
			for _, p := range params {
				args = append(args, jen.Id(p.name))
			}
			body = append(body, jen.Line(), jen.Return(self().Dot(fn.names[i+1]).Call(args...)))
		} else {
			body = append(body, jen.Return(jen.Nil()))
		}
		note(f, doc)
		f.Func().Params(self().Op("*").Id(m.host.typ)).Id(name).Params(given...).Error().Block(body...)
	}
}

// ofControl reports whether a function is a block of control flow.
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
