package emit

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/plan"
	"github.com/burngen/burngen/runtime/rt"
)

// Files prints the package. It fails when the printed Go is not what a
// generator may write: see guard.
func Files(m *Model) (files []File, err error) {
	err = ir.Try(func() {
		e := newEmitter(m)
		for _, f := range []struct {
			name string
			file *jen.File
		}{
			{"model.go", e.modelFile()},
			{"weights.go", e.weightsFile()},
			{"plan.go", e.planFile()},
			{"model_test.go", e.testFile()},
			{"lap.go", e.lapFile()},
		} {
			if f.file == nil {
				continue
			}
			var b bytes.Buffer
			if err := f.file.Render(&b); err != nil {
				ir.Fail("burngen bug: %s: %w", f.name, err)
			}
			files = append(files, File{f.name, grouped(b.Bytes(), standardImports)})
		}
		if err := guard(files, m); err != nil {
			ir.Fail("burngen bug: %w", err)
		}
	})
	return files, err
}

// grouped puts a blank line between the imports of the standard library and
// others, which the printer sorts into one list.
func grouped(file []byte, standard []string) []byte {
	before, rest, ok := bytes.Cut(file, []byte("import (\n"))
	list, after, closed := bytes.Cut(rest, []byte("\n)\n"))
	if !ok || !closed {
		return file
	}
	var std, own [][]byte
	for _, line := range bytes.Split(list, []byte("\n")) {
		_, path, _ := bytes.Cut(line, []byte(`"`))
		if slices.Contains(standard, strings.TrimSuffix(string(path), `"`)) {
			std = append(std, line)
		} else {
			own = append(own, line)
		}
	}
	if len(std) > 0 && len(own) > 0 {
		std = append(std, nil)
	}
	list = bytes.Join(append(std, own...), []byte("\n"))
	return slices.Concat(before, []byte("import (\n"), list, []byte("\n)\n"), after)
}

// emitter holds the names that the files share.
type emitter struct {
	*Model
	api     *api
	forward *function
	prepare *function
	callees []*function // of forward, before their callers
	shapes  *shapes
	chains  *chains
	global  *names
	session *names            // its fields and methods
	fields  map[string]string // prepared weight → field
	// aliases are what the packages of custom operators are called, by import path.
	aliases map[string]string
}

// reserved are the package-level names that every model has.
var reserved = strings.Fields(`Model Session Load LoadFrom Inputs Outputs Trainer Grads New Meta weights embedded prepare meta arenaLen
	newModel firstUse lastUse TestSample TestLoad`)

func newEmitter(m *Model) *emitter {
	e := &emitter{Model: m, global: newNames(reserved...), fields: map[string]string{}}
	e.session = newNames(strings.Fields("Forward SetContext forward open model weights guard ctx arena max symbols opened extents offsets tail tails")...)
	if m.Lap != nil {
		e.global.unique(lapName)
	}
	_, e.aliases = customPackages(m, e.global)
	e.shapes = &shapes{names: e.global, byText: map[string]string{}}
	a := &api{m: m, where: m.Title + ": Forward"}
	a.form, a.symbol = formOf(m.Forward.IR)
	a.symbols = m.Forward.IR.Symbols()
	e.api = a

	local := e.global.within("s", "w", "dst", "in", "err", "lo", "hi", "i", "j", "k", "l", "z", "ctx", "m", "n0", "t", "trip", "trips", "going", "got")
	a.vars = map[string]string{}
	for _, s := range a.symbols {
		a.vars[s] = local.unique(unexported(s))
	}
	for _, s := range append(binds(m.Forward.Steps), tripSymbols(m.Forward.Steps)...) {
		a.vars[s] = local.unique(unexported(s))
	}
	fields := map[string]*names{"input": newNames(), "output": newNames()}
	makePort := func(i int, v *ir.Value, name, kind string) port {
		p := port{index: i, value: v, name: name, kind: kind}
		p.id = local.unique(unexported(name))
		p.field = fields[kind].unique(exported(name))
		if a.form != dynamic {
			p.typ = e.global.unique(exported(name))
		}
		return p
	}
	for i, v := range m.Forward.IR.Params {
		a.in = append(a.in, makePort(i, v, v.Name, "input"))
	}
	for i, v := range m.Forward.IR.Results {
		a.out = append(a.out, makePort(i, v, m.Forward.IR.ResultNames[i], "output"))
	}

	fieldNames := newNames()
	for _, p := range m.Prepared {
		e.fields[p.Name] = fieldNames.unique(unexported(strings.TrimPrefix(p.Name, "prepared/")))
	}
	e.forward = &function{Func: m.Forward, name: "forward", callees: map[*program.Func]*function{}, symbols: a.vars, shapes: e.shapes, weights: map[string]*jen.Statement{}, buffers: map[*plan.Buffer]string{}, consts: map[*plan.Buffer]string{}, arena: jen.Id("s").Dot("arena"), used: map[string]bool{}}
	for _, p := range a.in {
		e.forward.params = append(e.forward.params, p.id)
	}
	for _, p := range a.out {
		e.forward.results = append(e.forward.results, p.id)
	}
	for _, p := range m.Prepared {
		e.forward.weights[p.Name] = jen.Id("w").Dot(e.fields[p.Name])
	}
	e.nameBuffers(e.forward, local)
	e.chains = &chains{names: e.global, byText: map[string]string{}, f: e.forward}
	e.forward.chains = e.chains
	e.forward.lap = m.Lap
	a.fn = e.forward
	e.nameCallees()

	local = e.global.within("w", "p", "raw", "err", "lo", "hi", "i", "j", "k", "l", "arena", "n0", "t")
	e.prepare = &function{Func: m.Prepare, name: "prepare", symbols: map[string]string{}, shapes: e.shapes, chains: e.chains, weights: map[string]*jen.Statement{}, buffers: map[*plan.Buffer]string{}, consts: map[*plan.Buffer]string{}, arena: jen.Id("arena"), used: map[string]bool{}}
	for _, name := range loads(m.Prepare.IR) {
		e.prepare.weights[name] = jen.Id(local.unique(unexported(name)))
	}
	for _, name := range m.Prepare.IR.ResultNames {
		e.prepare.results = append(e.prepare.results, "p."+e.fields[name])
	}
	e.nameBuffers(e.prepare, local)
	return e
}

// nameCallees chooses the names of the functions that the schedule calls.
func (e *emitter) nameCallees() {
	for _, c := range e.Forward.Callees() {
		local := e.global.within("s", "base", "err", "lo", "hi", "i", "j", "k", "l", "z", "t", "trip", "trips", "going")
		fn := &function{Func: c, name: e.session.unique(unexported(c.IR.Name)), base: "base", callees: e.forward.callees,
			symbols: map[string]string{}, shapes: e.shapes, chains: e.chains, weights: map[string]*jen.Statement{},
			buffers: map[*plan.Buffer]string{}, consts: map[*plan.Buffer]string{}, arena: jen.Id("s").Dot("arena"), used: map[string]bool{}}
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
		fn.lap = e.Lap
		e.nameBuffers(fn, local)
		e.forward.callees[c] = fn
		e.callees = append(e.callees, fn)
		if c.Plan.Mode == plan.Dynamic {
			e.forward.symbols[c.LinesSymbol()] = fn.name + "Lines"
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
	f.customs = map[*program.Custom]string{}
	for _, c := range f.customCalls() {
		_, name := c.Op.Domain()
		f.customs[c] = e.session.unique(f.table(unexported(name)))
	}
	f.held = map[*plan.Variable]string{}
	for i, v := range f.Plan.Variables {
		name := v.Name
		if !isGoName(name) || isNumbered(name) {
			name = fmt.Sprintf("held%d", i+1)
		}
		f.held[v] = e.session.unique(f.table(name))
	}
}

// isNumbered reports whether a name is one that buffers are numbered by.
func isNumbered(name string) bool {
	return name[0] == 'h' && strings.Trim(name[1:], "0123456789") == ""
}

// loads returns the names of the weights a function reads, in order.
func loads(f *ir.Func) []string {
	var out []string
	for n := range f.All() {
		if l, ok := n.Op.(ir.Load); ok && !slices.Contains(out, l.Name) {
			out = append(out, l.Name)
		}
	}
	return out
}

func (e *emitter) newFile() *jen.File {
	f := jen.NewFile(e.Package)
	f.HeaderComment(Header)
	f.ImportName(rtPath, "rt")
	f.ImportName(cpuPath, "cpu")
	for path, alias := range e.aliases {
		f.ImportAlias(path, alias)
	}
	f.ImportAlias(imagePath, "cpuimage")
	return f
}

func (e *emitter) modelFile() *jen.File {
	f := e.newFile()
	f.HeaderComment("source: " + comment(e.Source))
	f.HeaderComment("flags:  " + comment(e.Flags))
	doc := "Package " + e.Package + " computes the model " + comment(fmt.Sprintf("%q", e.Title)) + "."
	if e.Doc != "" {
		doc += "\n\n" + comment(e.Doc)
	}
	doc += "\n\nLoad a [Model] once and share it between goroutines, or open a [Session] for each to\ncall it without allocating. The schedule in forward is the IR of the .ir file beside\nthis one, a call for each node."
	f.PackageComment(lines(doc))
	f.Const().Defs(
		jen.Comment("This code and the runtime it links are of one version."),
		jen.Id("_").Op("=").Qual(rtPath, "EnforceVersion").Call(jen.Lit(rt.GenVersion).Op("-").Qual(rtPath, "MinVersion")),
		jen.Id("_").Op("=").Qual(rtPath, "EnforceVersion").Call(jen.Qual(rtPath, "MaxVersion").Op("-").Lit(rt.GenVersion)),
	)
	for _, c := range e.api.typeDecls() {
		f.Add(c)
	}
	e.modelType(f)
	for _, c := range e.api.modelForward() {
		f.Add(c)
	}
	e.sessionType(f)
	for _, c := range e.api.sessionForward() {
		f.Add(c)
	}
	e.schedule(f)
	for _, c := range e.chains.decls {
		f.Add(c)
	}
	e.metaVar(f)
	return f
}

func (e *emitter) modelType(f *jen.File) {
	note(f, "Model is the model with its weights. It is safe for concurrent use.")
	f.Type().Id("Model").Struct(
		jen.Id("weights").Qual("sync/atomic", "Pointer").Index(jen.Id("weights")),
		jen.Id("sessions").Op("*").Qual(rtPath, "Pool").Index(jen.Op("*").Id("Session")),
	)
	f.Func().Id("newModel").Params(jen.Id("w").Op("*").Id("weights")).Op("*").Id("Model").Block(
		jen.Id("m").Op(":=").Op("&").Id("Model").Values(),
		jen.Id("m").Dot("weights").Dot("Store").Call(jen.Id("w")),
		jen.Id("m").Dot("sessions").Op("=").Qual(rtPath, "NewPool").Call(jen.Lit(0), jen.Func().Params().Params(jen.Op("*").Id("Session"), jen.Error()).Block(
			jen.Return(jen.Id("m").Dot("NewSession").Call(jen.Nil())))),
		jen.Return(jen.Id("m")),
	)
	note(f, "Meta returns the names, element types and shapes of the model's inputs and outputs.")
	f.Func().Params(jen.Id("m").Op("*").Id("Model")).Id("Meta").Params().Qual(rtPath, "Meta").Block(jen.Return(jen.Id("meta")))
}

func (e *emitter) sessionType(f *jen.File) {
	a := e.api
	fields := []jen.Code{
		jen.Id("model").Op("*").Id("Model"),
		jen.Id("weights").Op("*").Id("weights").Comment("of the call that runs"),
		jen.Id("guard").Qual(rtPath, "Guard"),
		jen.Id("ctx").Qual("context", "Context"),
		jen.Id("arena").Index().Byte(),
	}
	if len(a.symbols) > 0 {
		fields = append(fields, jen.Id("max").Qual(rtPath, "Max"))
	}
	if a.form == dynamic {
		fields = append(fields, jen.Id("symbols").Qual(rtPath, "Symbols"))
	}
	if e.hasTail() {
		fields = append(fields, jen.Id("tail").Qual(rtPath, "Tail"))
	}
	for _, fn := range append([]*function{e.forward}, e.callees...) {
		if n := len(fn.Plan.Tails); n > 0 {
			fields = append(fields, jen.Id(fn.table("tails")).Index(jen.Lit(n)).Index().Byte())
		}
	}
	for _, fn := range append([]*function{e.forward}, e.callees...) {
		for _, v := range fn.Plan.Variables {
			typ := heldType(v.Type)
			if v.Boxed {
				typ = "rt.Tensor[" + goType(v.Type.DType) + "]"
			}
			fields = append(fields, jen.Id(fn.held[v]).Id(typ).Comment(comment(v.Type.String())))
		}
	}
	for _, fn := range append([]*function{e.forward}, e.callees...) {
		for _, c := range fn.customCalls() {
			fields = append(fields, jen.Id(fn.customs[c]).Op("*").Qual(rtPath, "Call").Comment("of "+comment(c.Op.Func)))
		}
	}
	mode := e.Forward.Plan.Mode
	if mode == plan.Dynamic {
		fields = append(fields,
			jen.Id("opened").Bool(),
			jen.Id("extents").Index(jen.Lit(len(a.symbols))).Int().Comment("that offsets hold for"),
			jen.Id("offsets").Index(jen.Lit(len(e.Forward.Plan.Buffers))).Int64())
		for _, c := range e.callees {
			if c.Plan.Mode == plan.Dynamic {
				fields = append(fields, jen.Id(c.table("offsets")).Index(jen.Lit(len(c.Plan.Buffers))).Int64())
			}
		}
	}
	note(f, "Session holds the memory of one call at a time. A call while another runs returns\nrt.ErrBusy.")
	f.Type().Id("Session").Struct(fields...)

	values := []jen.Code{jen.Id("model").Op(":").Id("m")}
	body := []jen.Code{}
	doc := "NewSession opens a session."
	if len(a.symbols) > 0 {
		doc = "NewSession opens a session. Extents above max are refused; a nil max has no limits.\nThe session's memory grows with what it is called with."
		var list []jen.Code
		for _, s := range a.symbols {
			list = append(list, jen.Lit(s))
		}
		body = append(body, jen.If(jen.Err().Op(":=").Id("max").Dot("Check").Call(append([]jen.Code{jen.Lit(e.Title + ": NewSession")}, list...)...), jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())))
		given := jen.Id("max")
		if limits := e.limits(); len(limits) > 0 {
			given = given.Dot("Within").Call(jen.Qual(rtPath, "Max").Values(limits...))
		}
		values = append(values, jen.Id("max").Op(":").Add(given))
	}
	if a.form == dynamic {
		var list []jen.Code
		for _, s := range a.symbols {
			list = append(list, jen.Lit(s))
		}
		values = append(values, jen.Id("symbols").Op(":").Qual(rtPath, "NewSymbols").Call(list...))
	}
	var calls []jen.Code
	for _, fn := range append([]*function{e.forward}, e.callees...) {
		for _, c := range fn.customCalls() {
			calls = append(calls, jen.Id("s").Dot(fn.customs[c]).Op("=").Add(newCall(c)))
		}
	}
	maxName := "max"
	if len(a.symbols) == 0 {
		maxName = "_"
	}
	if mode == plan.Static {
		body = append(body,
			jen.List(jen.Id("arena"), jen.Err()).Op(":=").Qual(rtPath, "NewArena").Call(jen.Id("arenaLen")),
			jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())))
		values = append(values, jen.Id("arena").Op(":").Id("arena"))
	}
	session := jen.Op("&").Id("Session").Values(values...)
	if len(calls) > 0 {
		body = append(append(body, jen.Id("s").Op(":=").Add(session)), calls...)
		session = jen.Id("s")
	}
	body = append(body, jen.Return(session, jen.Nil()))
	note(f, doc)
	f.Func().Params(jen.Id("m").Op("*").Id("Model")).Id("NewSession").Params(jen.Id(maxName).Qual(rtPath, "Max")).Params(jen.Op("*").Id("Session"), jen.Error()).Block(body...)

	note(f, "SetContext makes the calls that follow end early, with the context's error, when ctx\nis done; a nil ctx never is.")
	f.Func().Params(jen.Id("s").Op("*").Id("Session")).Id("SetContext").Params(jen.Id("ctx").Qual("context", "Context")).Block(jen.Id("s").Dot("ctx").Op("=").Id("ctx"))

	params := []jen.Code{}
	for _, s := range a.symbols {
		params = append(params, jen.Id(a.vars[s]).Int())
	}
	if mode == plan.Static {
		return
	}
	note(f, "open makes the arena large enough.")
	f.Func().Params(jen.Id("s").Op("*").Id("Session")).Id("open").Params(params...).Error().Block(e.openBody()...)
}

// limits prints the largest extents that were given when the model was compiled.
func (e *emitter) limits() []jen.Code {
	var out []jen.Code
	for _, s := range e.api.symbols {
		if n, ok := e.Limits[s]; ok {
			out = append(out, jen.Lit(s).Op(":").Lit(n))
		}
	}
	return out
}

func (e *emitter) openBody() []jen.Code {
	a, p := e.api, e.Forward.Plan
	alg := sized{e.forward, "z"}
	grow := []jen.Code{
		jen.If(jen.Err().Op(":=").Id("z").Dot("Err").Call(jen.Lit(a.where)), jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Err())),
		jen.If(jen.Int64().Call(jen.Len(jen.Id("s").Dot("arena"))).Op("<").Id("need")).Block(
			jen.List(jen.Id("arena"), jen.Err()).Op(":=").Qual(rtPath, "NewArena").Call(jen.Id("need")),
			jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Err())),
			jen.Id("s").Dot("arena").Op("=").Id("arena")),
	}
	if p.Mode == plan.Scaled {
		out := []jen.Code{jen.Var().Id("z").Qual(rtPath, "Sizes"), jen.Id("need").Op(":=").Add(foldDim(p.Size, ir.Algebra[*jen.Statement](alg)))}
		return append(append(out, grow...), jen.Return(jen.Nil()))
	}
	var extents []jen.Code
	for _, s := range a.symbols {
		extents = append(extents, jen.Id(a.vars[s]))
	}
	array := jen.Index(jen.Lit(len(a.symbols))).Int().Values(extents...)
	out := []jen.Code{
		jen.Id("extents").Op(":=").Add(array),
		jen.If(jen.Id("s").Dot("opened").Op("&&").Id("s").Dot("extents").Op("==").Id("extents")).Block(jen.Return(jen.Nil())),
		jen.Var().Id("z").Qual(rtPath, "Sizes"),
	}
	out = append(out, jen.Id("s").Dot("opened").Op("=").False().Comment("until the offsets and the arena are those of these extents"))
	for _, c := range e.callees {
		if c.Plan.Mode == plan.Dynamic {
			out = append(out, e.sizes(c),
				jen.Id(e.forward.symbols[c.LinesSymbol()]).Op(":=").Add(layout(c)).Op("/").Lit(program.Line))
		}
	}
	out = append(out,
		e.sizes(e.forward),
		jen.If(jen.Err().Op(":=").Id("z").Dot("Err").Call(jen.Lit(a.where)), jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Err())),
		jen.Id("need").Op(":=").Add(layout(e.forward)),
		grow[1],
		jen.List(jen.Id("s").Dot("extents"), jen.Id("s").Dot("opened")).Op("=").List(jen.Id("extents"), jen.True()),
		jen.Return(jen.Nil()))
	return out
}

// sizes prints the table of the bytes that a function's buffers take.
func (e *emitter) sizes(fn *function) jen.Code {
	var sizes []jen.Code
	for _, b := range fn.Plan.Buffers {
		sizes = append(sizes, jen.Line().Id(fn.consts[b]).Op(":").Add(foldDim(b.Bytes, ir.Algebra[*jen.Statement](sized{e.forward, "z"}))))
	}
	return jen.Id(fn.table("sizes")).Op(":=").Index(jen.Op("...")).Int64().Values(append(sizes, jen.Line())...)
}

// layout prints the placing of a function's buffers.
func layout(fn *function) *jen.Statement {
	all := jen.Index(jen.Op(":"))
	return jen.Qual(rtPath, "Layout").Call(
		jen.Id(fn.table("sizes")).Add(all), jen.Id(fn.table("firstUse")).Add(all), jen.Id(fn.table("lastUse")).Add(all), jen.Id("s").Dot(fn.table("offsets")).Add(all))
}

// schedule prints forward and the functions that it calls.
func (e *emitter) schedule(f *jen.File) {
	a := e.api
	var params []parameter
	for _, s := range a.symbols {
		params = append(params, parameter{a.vars[s], jen.Int()})
	}
	for _, p := range a.out {
		typ := jen.Id(heldType(p.value.Type))
		if a.late(p) || !p.value.Type.IsTensor() {
			typ = jen.Op("*").Add(a.argument(p))
		}
		params = append(params, parameter{p.id, typ})
	}
	for _, p := range a.in {
		params = append(params, parameter{p.id, jen.Id(heldType(p.value.Type))})
	}
	e.method(f, e.forward, "forward is the schedule: it computes the outputs from the inputs.", params)
	for _, c := range e.callees {
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
		if e.ofControl(c) {
			doc = c.name + " is what control flow of the model runs."
		}
		e.method(f, c, doc, params)
	}
}

// parameter is a parameter of a printed method.
type parameter struct {
	name string
	typ  *jen.Statement
}

// method prints the steps of a function, in parts when there are many.
func (e *emitter) method(f *jen.File, fn *function, doc string, params []parameter) {
	parts := fn.parts()
	for i, steps := range parts {
		name := fn.name
		if i > 0 {
			name = fmt.Sprintf("%s%d", fn.name, i+1)
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
		body, weights := fn.body(steps)
		if len(binds(steps))+len(tripSymbols(steps)) > 0 {
			body, weights = fn.body(steps) // now that it is known which symbols are used
		}
		if len(weights) > 0 {
			body = append([]jen.Code{jen.Id("w").Op(":=").Id("s").Dot("weights")}, body...)
		}
		tail := jen.Id("s").Dot("tail")
		switch {
		case i > 0:
		case fn == e.forward && e.hasTail():
			body = append([]jen.Code{tail.Dot("Reset").Call()}, body...)
		case len(fn.Plan.Tails) > 0:
			body = append([]jen.Code{jen.Defer().Add(tail.Clone()).Dot("Release").Call(tail.Clone().Dot("Mark").Call())}, body...)
		}
		body = append([]jen.Code{jen.If(jen.Err().Op(":=").Qual(rtPath, "Done").Call(jen.Id("s").Dot("ctx")), jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Err()))}, body...)
		if i+1 < len(parts) {
			var args []jen.Code
			for _, p := range params {
				args = append(args, jen.Id(p.name))
			}
			body = append(body, jen.Line(), jen.Return(jen.Id("s").Dot(fmt.Sprintf("%s%d", fn.name, i+2)).Call(args...)))
		} else {
			body = append(body, jen.Return(jen.Nil()))
		}
		note(f, doc)
		f.Func().Params(jen.Id("s").Op("*").Id("Session")).Id(name).Params(given...).Error().Block(body...)
	}
}

// hasTail reports whether memory is allocated while the model runs.
func (e *emitter) hasTail() bool {
	return slices.ContainsFunc(append([]*function{e.forward}, e.callees...), func(f *function) bool { return len(f.Plan.Tails) > 0 })
}

// ofControl reports whether a function is a block of control flow.
func (e *emitter) ofControl(fn *function) bool {
	for _, f := range append([]*function{e.forward}, e.callees...) {
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

func (e *emitter) metaVar(f *jen.File) {
	ports := func(list []rt.Port) *jen.Statement {
		var values []jen.Code
		for _, p := range list {
			var shape []jen.Code
			for _, d := range p.Shape {
				shape = append(shape, text(d))
			}
			values = append(values, jen.Values(jen.Id("Name").Op(":").Add(text(p.Name)), jen.Id("DType").Op(":").Add(text(p.DType)), jen.Id("Shape").Op(":").Index().String().Values(shape...)))
		}
		return jen.Index().Qual(rtPath, "Port").Values(values...)
	}
	var opsets []jen.Code
	for _, o := range e.Meta.Opsets {
		opsets = append(opsets, jen.Values(jen.Id("Domain").Op(":").Add(text(o.Domain)), jen.Id("Version").Op(":").Lit(o.Version)))
	}
	fields := []jen.Code{
		jen.Line().Id("Name").Op(":").Add(text(e.Meta.Name)),
		jen.Line().Id("Source").Op(":").Add(text(e.Meta.Source)),
		jen.Line().Id("Opsets").Op(":").Index().Qual(rtPath, "Opset").Values(opsets...),
		jen.Line().Id("Inputs").Op(":").Add(ports(e.Meta.Inputs)),
		jen.Line().Id("Outputs").Op(":").Add(ports(e.Meta.Outputs)),
	}
	if len(e.Meta.Metadata) > 0 {
		var keys []string
		for k := range e.Meta.Metadata {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		var values []jen.Code
		for _, k := range keys {
			values = append(values, jen.Line().Add(text(k)).Op(":").Add(text(e.Meta.Metadata[k])))
		}
		fields = append(fields, jen.Line().Id("Metadata").Op(":").Map(jen.String()).String().Values(append(values, jen.Line())...))
	}
	f.Var().Id("meta").Op("=").Qual(rtPath, "Meta").Values(append(fields, jen.Line())...)
}

func (e *emitter) planFile() *jen.File {
	f := e.newFile()
	if len(e.shapes.decls) > 0 {
		note(f, "Shapes of kernel calls.")
		f.Var().Defs(e.shapes.decls...)
	}
	p := e.Forward.Plan
	doc := "The arena's plan, in bytes. Buffers share memory only when no step needs both."
	switch p.Mode {
	case plan.Scaled:
		doc = fmt.Sprintf("The arena's plan, in bytes for %s = 1. Buffers share memory only when no step needs\nboth.", comment(p.Symbol))
	case plan.Dynamic:
		doc = "The arena's plan. Buffers share memory only when no step needs both; their sizes and\noffsets follow from the extents of the arguments."
	}
	note(f, doc+"\n\n"+indent(p.Picture()))
	e.offsets(f, e.forward, p.Mode)
	for _, c := range e.callees {
		note(f, "The plan of "+c.name+", from where its arena begins.\n\n"+indent(c.Plan.Picture()))
		e.offsets(f, c, c.Plan.Mode)
	}
	if p.Mode == plan.Static {
		size, _ := p.Size.Int()
		note(f, "arenaLen is the arena's size.")
		f.Const().Id("arenaLen").Op("=").Lit(size)
	}
	if len(e.Prepare.Plan.Buffers) > 0 {
		note(f, "Offsets of the buffers that prepare uses.")
		e.offsets(f, e.prepare, plan.Static)
	}
	return f
}

// indent makes a picture a preformatted part of a comment.
func indent(picture string) string {
	lines := strings.Split(strings.TrimRight(picture, "\n"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight("\t"+l, " \t")
	}
	return strings.Join(lines, "\n")
}

// offsets declares the constants that buffers are found by.
func (e *emitter) offsets(f *jen.File, fn *function, mode plan.Mode) {
	var defs, first, last []jen.Code
	for i, b := range fn.Plan.Buffers {
		id := jen.Id(fn.consts[b])
		note := fmt.Sprintf("%s[%s]", b.DType, b.Elems)
		switch mode {
		case plan.Dynamic:
			defs = append(defs, id.Op("=").Lit(i).Comment(comment(note)))
			first, last = append(first, jen.Lit(b.First)), append(last, jen.Lit(b.Last))
		default:
			at := b.Offset
			if coef, rest, ok := at.Linear(fn.Plan.Symbol); ok && mode == plan.Scaled && !at.IsConst() && rest.Equal(ir.Dim{}) {
				at = coef
			}
			if n, ok := at.Int(); ok {
				defs = append(defs, id.Op("=").Lit(n).Comment(comment(note)))
			}
		}
	}
	if len(defs) > 0 {
		f.Const().Defs(defs...)
	}
	if mode == plan.Dynamic && len(defs) > 0 {
		note(f, "The steps at which each buffer is first written and last read.")
		f.Var().Defs(
			jen.Id(fn.table("firstUse")).Op("=").Index(jen.Op("...")).Int32().Values(first...),
			jen.Id(fn.table("lastUse")).Op("=").Index(jen.Op("...")).Int32().Values(last...))
	}
}
