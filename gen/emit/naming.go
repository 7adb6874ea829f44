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

// emitter holds the names that the files share.
type emitter struct {
	*Model
	session *host
	trainer *host // nil without training
	prepare *function
	shapes  *shapes
	chains  *chains
	global  *names
	fields  map[string]string // prepared weight → field
	// raw and changes are the fields of weights as training reads them, and of the
	// gradients and new values that it writes.
	raw, changes map[string]string
	// ports are the exported types of direct functions, by name.
	ports map[string]string
	// aliases are what the packages of custom operators are called, by import path.
	aliases map[string]string
}

// reserved are the package-level names that every model has.
var reserved = strings.Fields(`Model Session Load LoadFrom Inputs Outputs Trainer Grads New Meta Wanted weights embedded prepare fitted wanted meta
	arenaLen loadPrepared loadRaw newModel firstUse lastUse TestSample TestLoad`)

// memberNames are the fields and methods that every session has.
var memberNames = strings.Fields("Forward SetContext forward open enter leave model weights guard ctx arena max symbols opened extents offsets tail tails")

func newEmitter(m *Model) *emitter {
	e := &emitter{Model: m, global: newNames(reserved...), fields: map[string]string{}, ports: map[string]string{}}
	e.global.within("keys") // in weights.go, which imports it
	if m.Initial != nil {
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
	if m.Lap != nil {
		e.global.unique(lapName)
	}
	_, e.aliases = customPackages(m, e.global)
	e.shapes = &shapes{names: e.global, byText: map[string]string{}}
	e.chains = &chains{names: e.global, byText: map[string]string{}}
	fieldNames := newNames()
	for _, p := range m.Prepared {
		e.fields[p.Name] = fieldNames.unique(unexported(strings.TrimPrefix(p.Name, rt.PreparedPrefix)))
	}
	e.session = &host{typ: "Session", recv: "s", names: newNames(memberNames...)}
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

	local := e.global.within("w", "p", "raw", "err", "lo", "hi", "i", "j", "k", "l", "arena", "n0", "t")
	e.prepare = e.newFunction(nil, m.Prepare, "prepare")
	e.prepare.arena = jen.Id("arena")
	for _, name := range loads(m.Prepare.IR) {
		e.prepare.weights[name] = jen.Id(local.unique(unexported(name)))
	}
	for _, name := range m.Prepare.IR.ResultNames {
		e.prepare.results = append(e.prepare.results, "p."+e.fields[name])
	}
	e.nameBuffers(e.prepare, local)
	return e
}

// newFunction returns a function of a host without names of what is in it; a function
// of the package has no host.
func (e *emitter) newFunction(h *host, f *program.Func, name string) *function {
	fn := &function{Func: f, host: h, name: name, symbols: map[string]string{}, shapes: e.shapes, chains: e.chains, weights: map[string]*jen.Statement{},
		buffers: map[*plan.Buffer]string{}, consts: map[*plan.Buffer]string{}, used: map[string]bool{}, maxSteps: maxSteps}
	if e.MaxSteps > 0 {
		fn.maxSteps = e.MaxSteps
	}
	if h != nil {
		fn.arena = h.self().Dot("arena")
	}
	fn.fits = &fits{f: fn}
	return fn
}

// tables are the names of a host's fields that each of its methods has, and
// globalTables those of variables of the package.
var tables, globalTables = strings.Fields("symbols opened extents offsets tails"), strings.Fields("firstUse lastUse")

// addMethods makes functions of the API methods of a host.
func (e *emitter) addMethods(h *host, specs []*Function, weights map[string]*jen.Statement) {
	list := make([]string, len(specs))
	for i, spec := range specs {
		if list[i] = unexported(spec.IR.Name); list[i] == "forward" {
			continue
		}
		list[i] = h.names.unique(list[i])
		fn := &function{name: list[i]}
		h.names.unique(fn.opens())
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

// addMethod chooses the names of a function of the API and adds it to a host.
func (e *emitter) addMethod(h *host, spec *Function, name string, weights map[string]*jen.Statement) {
	a := &api{spec: spec, host: h, where: e.Title + ": " + spec.Method, vars: map[string]string{}}
	params, results := spec.IR.Params, spec.IR.Results
	var like *method
	if spec.Like != nil {
		like = e.methodOf(spec.Like)
		params, results = params[:len(like.in)], results[:len(like.out)]
		a.keyed = len(spec.IR.Params) > len(params)+len(spec.Seeds)
	}
	a.form, a.symbol = formOf(params, results, spec.Direct)
	if len(spec.States) > 0 {
		a.form, a.symbol = dynamic, ""
	}
	a.symbols = spec.IR.Symbols()
	fn := e.newFunction(h, spec.Func, name)
	fn.symbols, fn.weights, fn.callees = a.vars, weights, map[*program.Func]*function{}
	fn.entry = fn.fits.atEntry(a.symbols, a.where, fn.Plan.Mode != plan.Static)
	fn.fits.arena(fn.Plan)
	a.fn = fn

	local := e.global.within("s", "w", "dst", "in", "err", "lo", "hi", "i", "j", "k", "l", "z", "ctx", "m", "n0", "t", "trip", "trips", "going", "got")
	for _, name := range h.locals {
		local.unique(name)
	}
	for _, s := range slices.Concat(a.symbols, binds(spec.Steps), tripSymbols(spec.Steps)) {
		a.vars[s] = local.unique(unexported(s))
	}
	fields := map[string]*names{"input": newNames(), "output": newNames()}
	makePort := func(i int, v *ir.Value, name, kind string) port {
		p := port{index: i, value: v, name: name, kind: kind, form: a.portForm(v.Type)}
		p.said = unexported(name)
		p.id = local.unique(p.said)
		if slices.Contains(spec.States, name) {
			p.form, p.kept = dynamic, h.keeps(name)
			return p
		}
		p.field = fields[kind].unique(exported(name))
		p.said = unexported(p.field)
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
		p.said = "d" + exported(p.name)
		p.id = local.unique(p.said)
		if p.form == scalar {
			p.room = h.names.unique(fn.table(p.id))
		}
		a.seeds = append(a.seeds, p)
		fn.params = append(fn.params, p.id)
	}
	if a.keyed {
		fn.params = append(fn.params, local.unique("key"))
	}
	for _, name := range spec.IR.ResultNames[len(a.out):] {
		fn.results = append(fn.results, "g."+e.changes[name])
	}
	fn.ports = len(a.out)
	e.nameBuffers(fn, local)
	if e.chains.f == nil {
		e.chains.f = fn
	}
	m := &method{api: a}
	e.nameCallees(m)
	h.methods = append(h.methods, m)
}

// methodOf returns the session's method of a function.
func (e *emitter) methodOf(spec *Function) *method {
	for _, m := range e.session.methods {
		if m.spec == spec {
			return m
		}
	}
	ir.Fail("burngen bug: no method %s", spec.Method)
	return nil
}

// declare gives a port the name of its type, and declares that unless another port of
// a direct function has.
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
		p.typ = exported(p.name)
		if e.ports[p.typ] == array.GoString() {
			return
		}
	}
	p.typ = e.global.unique(exported(p.name))
	e.ports[p.typ] = array.GoString()
	a.types = append(a.types,
		jen.Comment(p.typ+" "+what+" "+comment(strconv.QuoteToASCII(p.name))+": "+p.value.Type.String()+"."),
		jen.Type().Id(p.typ).Op("=").Add(array), jen.Line())
}

// nameCallees chooses the names of the functions that a schedule calls.
func (e *emitter) nameCallees(m *method) {
	h := m.host
	for _, c := range m.fn.Callees() {
		local := e.global.within("s", "base", "err", "lo", "hi", "i", "j", "k", "l", "z", "t", "trip", "trips", "going")
		fn := e.newFunction(h, c, h.names.unique(unexported(c.IR.Name)))
		fn.base, fn.callees = "base", m.fn.callees
		fn.entry = fn.fits.atEntry(c.IR.Symbols(), c.IR.Name, false)
		fn.fits.caller = m.fn.fits
		for _, s := range slices.Concat(c.IR.Symbols(), binds(c.Steps), tripSymbols(c.Steps)) {
			fn.symbols[s] = local.unique(unexported(s))
		}
		for _, p := range c.IR.Params {
			name := unexported(p.Name)
			if isNumbered(name) {
				name = "p" + name[1:]
			}
			fn.params = append(fn.params, local.unique(name))
		}
		for _, name := range c.IR.ResultNames {
			fn.results = append(fn.results, local.unique(unexported(name)))
		}
		e.nameBuffers(fn, local)
		m.fn.callees[c] = fn
		m.callees = append(m.callees, fn)
		if c.Plan.Mode == plan.Dynamic {
			m.fn.symbols[c.LinesSymbol()] = fn.name + "Lines"
			m.fn.fits.arena(c.Plan)
		}
	}
}

// nameBuffers chooses the variables of a function's buffers: the model's name
// where that is an identifier, h1, h2 and so on elsewhere.
func (e *emitter) nameBuffers(f *function, local *names) {
	for i, b := range slices.Concat(f.Plan.Buffers, f.Plan.Tails) {
		name := b.Name
		if !isGoName(name) || isNumbered(name) {
			name = fmt.Sprintf("h%d", i+1)
		}
		f.buffers[b] = local.unique(name)
		f.consts[b] = e.global.unique(f.table(f.buffers[b] + "Off"))
	}
	f.turns, f.rows = map[*program.Repeat][]turn{}, map[*program.Repeat][]string{}
	for _, s := range f.Steps {
		r, ok := s.(*program.Repeat)
		if !ok {
			continue
		}
		for range r.Carried {
			f.turns[r] = append(f.turns[r], turn{local.unique("now"), local.unique("next"), local.unique("other")})
		}
		for range r.Scans {
			f.rows[r] = append(f.rows[r], local.unique("row"))
		}
	}
	if f.host == nil {
		return
	}
	members := f.host.names
	f.customs = map[*program.Custom]string{}
	for _, c := range f.customCalls() {
		_, name := c.Op.Domain()
		f.customs[c] = members.unique(f.table(unexported(name)))
	}
	f.held = map[*plan.Variable]string{}
	for i, v := range f.Plan.Variables {
		name := v.Name
		if !isGoName(name) || isNumbered(name) {
			name = fmt.Sprintf("held%d", i+1)
		}
		f.held[v] = members.unique(f.table(name))
	}
}

// isNumbered reports whether a name is one that buffers are numbered by.
func isNumbered(name string) bool {
	return name[0] == 'h' && strings.Trim(name[1:], "0123456789") == ""
}
