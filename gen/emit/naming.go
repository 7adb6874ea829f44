package emit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/plan"
	"github.com/burngen/burngen/runtime/rt"
)

type emitter struct {
	*Model
	session *host
	trainer *host   // nil without training
	device  *Device // nil unless the target has one, and until its file is printed
	prepare *function
	global  *names
	fields  map[string]string // name of the field for each prepared weight
	// raw holds the fields of weights as training reads them. changes holds the fields of the
	// gradients and new values that it writes.
	raw, changes map[string]string
	// ports are the exported types of direct functions, by name.
	ports map[string]string
	// aliases holds the names of the packages of custom operators, by import path.
	aliases map[string]string
}

var reserved = strings.Fields(`Model Session Load LoadFrom Inputs Outputs Trainer Grads New Meta Wanted weights embedded prepare fitted wanted meta
	loadPrepared loadRaw newModel firstUse lastUse TestSample TestLoad`)

var memberNames = strings.Fields("Forward SetContext Session forward tails")

func newEmitter(m *Model) *emitter {
	e := &emitter{Model: m, global: newNames(reserved...), fields: map[string]string{}, ports: map[string]string{}}
	e.global.within("keys") // in weights.go, which imports it
	if _, ok := m.Store.(Drawn); ok {
		e.global.unique("initial")
	}
	if m.Trainer != nil {
		for _, name := range trainerReserved {
			e.global.unique(name)
		}
	}
	for _, name := range m.Taken {
		e.global.unique(name)
	}
	if e.hasDevice() {
		for _, name := range deviceNames {
			e.global.unique(name)
		}
	}
	if m.Lap != nil {
		e.global.unique(lapName)
	}
	_, e.aliases = customPackages(m, e.global)
	fieldNames := newNames()
	for _, p := range m.Prepared {
		e.fields[p.Name] = fieldNames.unique(ir.Unexported(strings.TrimPrefix(p.Name, rt.PreparedPrefix)))
	}
	e.session = &host{typ: "Session", recv: "s", names: e.members(memberNames)}
	weights := map[string]*jen.Statement{}
	for _, p := range m.Prepared {
		weights[p.Name] = jen.Id("w").Dot(e.fields[p.Name])
	}
	e.addMethods(e.session, m.Functions, weights)
	if m.Trainer != nil {
		e.nameTrainer()
	}
	e.session.methods[0].fn.lap = m.Lap
	for _, c := range e.session.methods[0].callees {
		c.lap = m.Lap
	}

	local := e.global.within("w", "p", "raw", instance, runField, "err", "lo", "hi", "i", "j", "k", "l", "arena", "n0", "t")
	e.prepare = e.newFunction(nil, m.Prepare, "prepare")
	e.prepare.arena = jen.Id("arena")
	for _, name := range loads(m.Prepare.IR) {
		e.prepare.weights[name] = jen.Id(local.unique(ir.Unexported(name)))
	}
	for _, name := range m.Prepare.IR.ResultNames {
		e.prepare.results = append(e.prepare.results, "p."+e.fields[name])
	}
	e.nameBuffers(e.prepare, local)
	return e
}

// members returns a new scope in which the given names are taken. If the target has a device, the name of the device
// memory is taken too.
func (e *emitter) members(names []string) *names {
	if e.hasDevice() {
		return newNames(append(slices.Clone(names), runField)...)
	}
	return newNames(names...)
}

func (e *emitter) newFunction(h *host, f *program.Func, name string) *function {
	fn := &function{Func: f, host: h, name: name, symbols: map[string]string{}, printer: e.Printer, global: e.global, weights: map[string]*jen.Statement{},
		buffers: map[*plan.Buffer]string{}, consts: map[*plan.Buffer]string{}, used: map[string]bool{}, read: map[string]bool{}, maxSteps: maxSteps}
	if e.MaxSteps > 0 {
		fn.maxSteps = e.MaxSteps
	}
	if h != nil {
		fn.arena = frame("Arena")
	}
	fn.fits = &fits{f: fn}
	return fn
}

// The generator prints tables for each method. tables lists the suffixes of the names of tables that are fields of
// the host. globalTables lists the suffixes for tables that are variables of the package. [function.table] returns
// the full names.
var tables, globalTables = strings.Fields("tails"), strings.Fields("firstUse lastUse")

func (e *emitter) addMethods(h *host, specs []*Function, weights map[string]*jen.Statement) {
	list := make([]string, len(specs))
	for i, spec := range specs {
		if list[i] = ir.Unexported(spec.IR.Name); list[i] == "forward" {
			continue
		}
		list[i] = h.names.unique(list[i])
		fn := &function{name: list[i]}
		for _, t := range tables {
			h.names.unique(fn.table(t))
		}
		for _, t := range globalTables {
			e.global.unique(fn.table(t))
		}
	}
	for i, spec := range specs {
		e.addMethod(h, spec, list[i], weights)
	}
	for _, fn := range h.all() {
		for i := range fn.parts() {
			fn.names = append(fn.names, fn.name)
			if i > 0 {
				fn.names[i] = h.names.unique(fmt.Sprintf("%s%d", fn.name, i+1))
			}
		}
	}
}

func (e *emitter) addMethod(h *host, spec *Function, name string, weights map[string]*jen.Statement) {
	a := &api{spec: spec, host: h, where: e.Title + ": " + spec.Method, vars: map[string]string{}}
	params, results := spec.IR.Params, spec.IR.Results
	var like *method
	if spec.Like != nil {
		like = e.methodOf(spec.Like)
		params, results = params[:len(like.in)], results[:len(like.out)]
		for _, p := range spec.IR.Params[len(params)+len(spec.Seeds):] {
			a.extras = append(a.extras, extraOf(p.Type.DType))
		}
	}
	a.form, a.symbol = formOf(params, results, spec.Direct)
	if len(spec.States) > 0 {
		a.form, a.symbol = dynamic, ""
	}
	a.symbols = spec.IR.Symbols()
	fn := e.newFunction(h, spec.Func, name)
	fn.symbols, fn.weights, fn.callees = a.vars, weights, map[*program.Func]*function{}
	fn.entry = fn.fits.atEntry(a.symbols, a.where)
	fn.fits.arena(fn.Plan)
	a.fn = fn

	local := e.global.within("s", "w", "dst", "in", "err", "lo", "hi", "i", "j", "k", "l", "z", "ctx", "m", "n0", "t", "trip", "trips", "going", "got", "call", "off")
	for _, name := range h.locals {
		local.unique(name)
	}
	for _, s := range slices.Concat(a.symbols, binds(spec.Steps), tripSymbols(spec.Steps)) {
		a.vars[s] = local.unique(ir.Unexported(s))
	}
	fields := map[string]*names{"input": newNames(), "output": newNames()}
	makePort := func(i int, v *ir.Value, name, kind string) port {
		p := port{index: i, value: v, name: name, kind: kind, form: a.portForm(v.Type)}
		p.said = ir.Unexported(name)
		p.id = local.unique(p.said)
		if slices.Contains(spec.States, name) {
			p.form, p.kept = dynamic, h.keeps(name)
			return p
		}
		p.field = fields[kind].unique(ir.Exported(name))
		p.said = ir.Unexported(p.field)
		if p.form == scalar && kind == "input" {
			p.room = h.names.unique(fn.table(p.id))
		}
		switch {
		case like == nil:
			e.declare(a, &p)
		case kind == "input":
			p.typ, p.field = like.in[i].typ, like.in[i].field
		default:
			p.typ, p.field = like.out[i].typ, like.out[i].field
		}
		return p
	}
	for i, v := range params {
		a.in = append(a.in, makePort(i, v, v.Name, "input"))
	}
	for i, v := range results {
		a.out = append(a.out, makePort(i, v, spec.IR.ResultNames[i], "output"))
	}
	a.numIn, a.numOut = len(seen(a.in)), len(seen(a.out))
	if like != nil {
		a.result = like.result
	} else if a.result = spec.Outputs; a.result != "" && a.outStruct() && !slices.Contains(reserved, a.result) {
		a.result = e.global.unique(a.result)
	}
	for _, p := range a.in {
		fn.params = append(fn.params, p.id)
	}
	for _, p := range a.out {
		fn.results = append(fn.results, p.id)
	}
	for i, k := range spec.Seeds {
		p := a.out[k]
		p.value, p.kind = spec.IR.Params[len(params)+i], "input"
		p.said = "d" + ir.Exported(p.name)
		p.id = local.unique(p.said)
		if p.form == scalar {
			p.room = h.names.unique(fn.table(p.id))
		}
		a.seeds = append(a.seeds, p)
		fn.params = append(fn.params, p.id)
	}
	for _, extra := range a.extras {
		fn.params = append(fn.params, local.unique(extra.name))
	}
	for _, name := range spec.IR.ResultNames[len(a.out):] {
		fn.results = append(fn.results, "g."+e.changes[name])
	}
	fn.ports = len(a.out)
	e.nameBuffers(fn, local)
	m := &method{api: a, descriptor: e.global.unique(name + "Method")}
	if fn.Plan.Mode == plan.Dynamic {
		fn.bytes = e.global.unique(name + "Bytes")
	}
	e.nameCallees(m)
	h.methods = append(h.methods, m)
}

func (e *emitter) methodOf(spec *Function) *method {
	for _, m := range e.session.methods {
		if m.spec == spec {
			return m
		}
	}
	ir.Fail("burngen bug: no method %s", spec.Method)
	return nil
}

// declare sets the name of the Go type of p, and declares this type. It does nothing unless p is passed as an array
// or as a slice of arrays. With [Function.Direct], ports with the same name and the same array type share one
// declaration, and a port that is passed as a slice of numbers gets no type.
func (e *emitter) declare(a *api, p *port) {
	from, what := 0, "is "+p.kind
	switch p.form {
	case batched:
		from, what = 1, "is one item of "+p.kind
	case static:
	default:
		return
	}
	array := p.array(from)
	if a.spec.Direct {
		if p.value.Type.Rank() == from {
			return
		}
		p.typ = ir.Exported(p.name)
		if e.ports[p.typ] == array.GoString() {
			return
		}
	}
	p.typ = e.global.unique(ir.Exported(p.name))
	e.ports[p.typ] = array.GoString()
	a.types = append(a.types,
		jen.Comment(p.typ+" "+what+" "+comment(strconv.QuoteToASCII(p.name))+": "+p.value.Type.String()+"."),
		jen.Type().Id(p.typ).Op("=").Add(array), jen.Line())
}

func (e *emitter) nameCallees(m *method) {
	h := m.host
	for _, c := range m.fn.Callees() {
		if fn := h.shared(c); fn != nil {
			fn.fits.callers = append(fn.fits.callers, m.fn.fits)
			m.fn.callees[c] = fn
			continue
		}
		local := e.global.within("s", "w", "g", "base", "scaled", "ctx", "err", "lo", "hi", "i", "j", "k", "l", "z", "t", "trip", "trips", "going", "call", "off")
		fn := e.newFunction(h, c, h.names.unique(ir.Unexported(c.IR.Name)))
		fn.bases, fn.callees = []string{"base"}, m.fn.callees
		if c.IsSplit() {
			fn.bases = append(fn.bases, "scaled")
		}
		fn.entry = fn.fits.atEntry(c.IR.Symbols(), c.IR.Name)
		fn.fits.callers = []*fits{m.fn.fits}
		for _, s := range slices.Concat(c.IR.Symbols(), binds(c.Steps), tripSymbols(c.Steps)) {
			fn.symbols[s] = local.unique(ir.Unexported(s))
		}
		for _, p := range c.IR.Params {
			fn.params = append(fn.params, local.unique(valueName(p.Name)))
		}
		for _, name := range c.IR.ResultNames {
			fn.results = append(fn.results, local.unique(valueName(name)))
		}
		e.nameBuffers(fn, local)
		m.fn.callees[c] = fn
		m.callees = append(m.callees, fn)
		if c.Plan.Mode == plan.Dynamic {
			fn.bytes = e.global.unique(fn.name + "Bytes")
			m.fn.symbols[c.LinesSymbol()] = fn.name + "Lines"
			m.fn.fits.arena(c.Plan)
		}
	}
}
