package emit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/plan"
)

// trainerReserved are the package-level names that every model that trains has.
var trainerReserved = strings.Fields("TrainerOptions trained changes newChanges variables trainerArenaLen")

// trainerMembers are the fields and methods that every trainer has.
var trainerMembers = strings.Fields(`base model weights watch guard ctx arena max tail changes direct aside into
	SetContext Params Model State Weights enter`)

// Prefixes of the results that callers do not get, as package grad has them.
const (
	gradPrefix  = "grad/"
	statePrefix = "state/"
)

// nameTrainer chooses the names of what trains.
func (e *emitter) nameTrainer() {
	e.raw, e.changes = map[string]string{}, map[string]string{}
	fields := newNames()
	for _, w := range e.Trainer.Weights {
		e.raw[w.Name] = fields.unique(unexported(w.Name))
	}
	fields = newNames()
	for _, v := range e.Trainer.Variables {
		prefix := gradPrefix
		if v.Buffer {
			prefix = statePrefix
		}
		e.changes[prefix+v.Weight] = fields.unique(unexported(v.Name))
	}
	weights := map[string]*jen.Statement{}
	for name, field := range e.raw {
		weights[name] = jen.Id("w").Dot(field)
	}
	e.trainer = &host{typ: "Trainer", recv: "t", names: newNames(trainerMembers...), locals: []string{"g"}}
	specs := slices.Concat(e.Trainer.Steps, e.Trainer.Evals)
	if e.Trainer.Outer != nil {
		specs = append(specs, e.Trainer.Outer)
		for _, name := range []string{"Backward", "runBackward", "backward", "pending"} {
			e.trainer.names.unique(name)
		}
	}
	for _, spec := range specs {
		for _, name := range []string{spec.Method, runner(spec), "dst" + spec.Method, "pass" + spec.Method} {
			e.trainer.names.unique(name)
		}
	}
	e.addMethods(e.trainer, specs, weights)
	for _, m := range e.trainer.methods {
		for _, fn := range m.all() {
			fn.lap = e.Lap
		}
		if m.trains() {
			m.fn.pass, m.fn.watches = "pass"+m.spec.Method, e.Trainer.CheckNaN
			m.fn.backward = m.fn.Func.Backward(func(result int) bool {
				return result >= m.fn.ports && strings.HasPrefix(m.fn.IR.ResultNames[result], gradPrefix)
			})
		}
		if m.spec == e.Trainer.Outer {
			m.halve(e.trainer.names)
		}
	}
}

// halve divides a function where it first reads what the caller gives.
func (m *method) halve(names *names) {
	first, second, ok := m.fn.Halve(m.fn.IR.Params[len(m.in):][:len(m.seeds)], m.fn.ports)
	if !ok {
		ir.Fail("burngen bug: %s has no halves", m.spec.Method)
	}
	for i, steps := range [][]program.Step{first, second} {
		half, name := *m.fn, m.fn.name
		if i > 0 {
			name = "backward"
		}
		half.Func = &program.Func{IR: m.fn.IR, Plan: m.fn.Plan, Steps: steps}
		half.names = []string{name}
		for k := range half.parts()[1:] {
			half.names = append(half.names, names.unique(fmt.Sprintf("%s%d", name, k+2)))
		}
		m.halves = append(m.halves, &half)
	}
}

// trains reports whether a method of a trainer computes gradients.
func (a *api) trains() bool { return len(a.fn.IR.Results) > len(a.out) }

// runner returns the name of the method that a trainer's method calls with the memory
// of its results.
func runner(spec *Function) string { return "run" + spec.Method }

// mayEnd reports whether the schedule may end after one of some steps.
func (f *function) mayEnd(steps []program.Step) bool {
	return f.backward != nil && slices.ContainsFunc(steps, func(s program.Step) bool { _, ok := f.backward.Exits[s]; return ok })
}

// optional prints a step that serves gradients which may not be wanted, and the place
// where the schedule may end after it.
func (f *function) optional(s program.Step, printed []jen.Code, v *views) []jen.Code {
	if f.backward == nil {
		return printed
	}
	switch s.(type) {
	case *program.Call, *program.Loop:
		if f.watches {
			printed = append(printed, f.watched(s, v)...)
		}
	}
	if i, ok := f.backward.Only[s]; ok && !f.backward.Needed[i] {
		v.gradients = true
		printed = []jen.Code{jen.If(f.id(f.results[i]).Op("!=").Nil()).Block(printed...)}
	}
	if n, ok := f.backward.Exits[s]; ok {
		ends := f.host.self().Dot(f.pass).Dot("Ends").Call()
		printed = append(printed, jen.If(ends.Op("<=").Lit(n)).Block(jen.Return(jen.Nil())))
	}
	return printed
}

// movers begin the names of kernels that compute nothing.
var movers = []string{"Pack", "Block", "Unblock", "StridedCopy", "Copy", "Fill", "Repeat", "Transpose"}

// watched prints the search for NaN in what a step computed.
func (f *function) watched(s program.Step, v *views) []jen.Code {
	n := s.At()
	if c, ok := s.(*program.Call); n == nil || ok && slices.ContainsFunc(movers, func(m string) bool { return strings.HasPrefix(c.Kernel, m) }) {
		return nil
	}
	var out []jen.Code
	for _, r := range n.Results {
		place, ok := f.Plan.Places[r]
		if !ok || r.Type.DType != ir.F32 || place.Kind != plan.Arena && place.Kind != plan.Result {
			continue
		}
		ref := &program.Ref{Place: place, DType: ir.F32, Len: r.Type.Elems(), Value: r}
		out = append(out, f.host.self().Dot("watch").Dot("See").Call(text(nodeName(n)), f.slice(ref, v)))
	}
	return out
}

// nodeName returns what messages and comments call a node.
func nodeName(n *ir.Node) string {
	if n.Pos != "" {
		return n.Pos
	}
	return ir.OpName(n.Op)
}

// batchSymbol returns the symbol that TrainerOptions.Batch bounds, "" for none: the
// first extent of the first argument that has one.
func (e *emitter) batchSymbol() string {
	for _, m := range e.trainer.methods {
		for _, p := range m.in {
			if t := p.value.Type; t.IsTensor() && t.Rank() > 0 && slices.Contains(m.symbols, t.Shape[0].String()) {
				return t.Shape[0].String()
			}
		}
	}
	return ""
}

// trainFile prints train.go; nil where nothing trains.
func (e *emitter) trainFile() *jen.File {
	if e.trainer == nil {
		return nil
	}
	f := e.newFile()
	e.trainerType(f)
	e.newTrainer(f)
	e.trainerMethods(f)
	for _, m := range e.trainer.methods {
		m.open(f)
	}
	for _, m := range e.trainer.methods {
		if m.halves != nil {
			add(f, m.outerMethods())
		} else {
			add(f, e.trainerMethod(m))
		}
	}
	return f
}

// backwardFile prints backward.go; nil where nothing trains.
func (e *emitter) backwardFile() *jen.File {
	if e.trainer == nil {
		return nil
	}
	f := e.newFile()
	var fields []jen.Code
	for _, w := range e.Trainer.Weights {
		fields = append(fields, jen.Id(e.raw[w.Name]).Index().Id(goType(w.Type.DType)).Comment(w.Type.String()))
	}
	note(f, "trained holds the weights as training reads them: those of the source model.")
	f.Type().Id("trained").Struct(fields...)
	fields = nil
	for _, v := range e.Trainer.Variables {
		what := "gradient, "
		if v.Buffer {
			what = "new value, "
		}
		fields = append(fields, jen.Id(e.changeOf(v)).Index().Float32().Comment(what+v.Type.String()))
	}
	note(f, "changes holds what steps write beside their results. What is nil nobody wants.")
	f.Type().Id("changes").Struct(fields...)
	for _, m := range e.trainer.methods {
		m.schedule(f)
	}
	add(f, e.chains.take())
	return f
}

// changeOf returns the field of a variable's gradient or new value.
func (e *emitter) changeOf(v Variable) string {
	if v.Buffer {
		return e.changes[statePrefix+v.Weight]
	}
	return e.changes[gradPrefix+v.Weight]
}

// trainerType prints the options, the variables and the trainer.
func (e *emitter) trainerType(f *jen.File) {
	var options []jen.Code
	if s := e.batchSymbol(); s != "" {
		options = append(options, jen.Id("Batch").Int().Comment("the largest "+comment(s)+", 1 or more"))
	}
	checks := "makes a step that computes a NaN an error, with the first node that does"
	if !e.Trainer.CheckNaN {
		checks = "needs a package generated with -check-nan: NewTrainer returns an error"
	}
	options = append(options,
		jen.Id("Seed").Uint64().Comment("of random numbers"),
		jen.Id("Freeze").Index().String().Comment("patterns, as rt.MatchName has them, of parameters that are not trained"),
		jen.Id("CheckNaN").Bool().Comment(checks))
	note(f, "TrainerOptions say how a trainer trains.")
	f.Type().Id("TrainerOptions").Struct(options...)

	var list []jen.Code
	for _, v := range e.Trainer.Variables {
		shape, _ := v.Type.Static()
		var dims []jen.Code
		for _, n := range shape {
			dims = append(dims, jen.Lit(n))
		}
		fields := []jen.Code{jen.Id("Name").Op(":").Add(text(v.Name)), jen.Id("Shape").Op(":").Index().Int().Values(dims...)}
		if v.Type.DType != ir.F32 {
			fields = append(fields, jen.Id("DType").Op(":").Lit(v.Type.DType.String()))
		}
		if v.Buffer {
			fields = append(fields, jen.Id("Buffer").Op(":").True())
		} else if e.isNeeded(v) {
			fields = append(fields, jen.Id("Needed").Op(":").True())
		}
		list = append(list, jen.Line().Values(fields...))
	}
	note(f, "variables are the weights that training changes.")
	f.Var().Id("variables").Op("=").Index().Qual(rtPath, "Variable").Values(append(list, jen.Line())...)

	fields := []jen.Code{
		jen.Id("base").Op("*").Qual(rtPath, "Training"),
		jen.Id("weights").Op("*").Id("trained"),
		jen.Id("changes").Op("*").Id("changes").Comment("that the step writes"),
		jen.List(jen.Id("direct"), jen.Id("aside")).Op("*").Id("changes").Comment("among the gradients, and to be added to them"),
		jen.Id("guard").Qual(rtPath, "Guard"),
		jen.Id("ctx").Qual("context", "Context"),
		jen.Id("arena").Index().Byte(),
	}
	if e.Trainer.CheckNaN {
		fields = append(fields, jen.Id("watch").Op("*").Qual(rtPath, "Watch").Comment("nil unless NaN is an error"))
	}
	fields = append(fields, e.trainer.fields()...)
	for _, m := range e.trainer.methods {
		if m.trains() {
			fields = append(fields, jen.Id(m.fn.pass).Op("*").Qual(rtPath, "Pass"))
		}
		if m.halves != nil {
			fields = append(fields, jen.Id("pending").Bool().Comment("the arena holds what Backward needs"))
			for _, p := range m.in {
				fields = append(fields, jen.Id(m.savedField(p)).Add(m.argument(p)))
			}
		}
		fields = append(fields, jen.Id("dst"+m.spec.Method).Add(m.outputs()).Comment("of "+m.spec.Method))
	}
	note(f, "Trainer trains a copy of a model's weights. Results of its methods are valid until the\nnext call. A call while another runs returns rt.ErrBusy.")
	f.Type().Id("Trainer").Struct(fields...)
}

// isNeeded reports whether a step writes the gradient of a variable for others, too.
func (e *emitter) isNeeded(v Variable) bool {
	for _, m := range e.trainer.methods {
		if !m.trains() {
			continue
		}
		if i := slices.Index(m.fn.IR.ResultNames, gradPrefix+v.Weight); i >= 0 && m.fn.backward.Needed[i] {
			return true
		}
	}
	return false
}

// variableIndex returns the place of a weight among the variables.
func (e *emitter) variableIndex(name string) (int, bool) {
	i := slices.IndexFunc(e.Trainer.Variables, func(v Variable) bool { return v.Weight == name })
	return i, i >= 0
}

func (e *emitter) newTrainer(f *jen.File) {
	where := jen.Lit(e.Title + ": NewTrainer")
	fail := jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err()))
	symbol := e.batchSymbol()
	batch := jen.Lit(1)
	if symbol != "" {
		batch = jen.Id("o").Dot("Batch")
	}
	options := []jen.Code{
		jen.Id("Where").Op(":").Add(where), jen.Id("Batch").Op(":").Add(batch), jen.Id("Seed").Op(":").Id("o").Dot("Seed"),
		jen.Id("Freeze").Op(":").Id("o").Dot("Freeze"), jen.Id("CheckNaN").Op(":").Id("o").Dot("CheckNaN"),
	}
	values := []jen.Code{jen.Id("base").Op(":").Id("base")}
	if e.Trainer.CheckNaN {
		values = append(values, jen.Id("watch").Op(":").Id("base").Dot("Watch").Call())
	} else {
		options = append(options, jen.Id("Unchecked").Op(":").True())
	}
	body := []jen.Code{
		loaded(jen.Nil()),
		jen.Id("raw").Op(":=").Id("m").Dot("weights").Dot("Load").Call().Dot("Raw").Call().Dot("Fork").Call(),
		jen.List(jen.Id("base"), jen.Err()).Op(":=").Qual(rtPath, "NewTraining").Call(jen.Id("raw"), jen.Id("variables"), jen.Qual(rtPath, "TrainingOptions").Values(options...)),
		fail.Clone(),
	}
	if len(e.trainer.symbols()) > 0 {
		limits := e.limits(e.trainer.symbols())
		given := jen.Qual(rtPath, "Max").Values()
		if symbol != "" {
			given = jen.Qual(rtPath, "Max").Values(jen.Lit(symbol).Op(":").Id("o").Dot("Batch"))
		}
		if len(limits) > 0 {
			given = given.Dot("Within").Call(jen.Qual(rtPath, "Max").Values(limits...))
		}
		values = append(values, jen.Id("max").Op(":").Add(given))
	}
	values = append(values, e.trainer.values()...)
	own := false
	var weights []jen.Code
	for _, w := range e.Trainer.Weights {
		value := jen.Id("base").Dot("Weight")
		if i, ok := e.variableIndex(w.Name); ok {
			value = value.Call(jen.Lit(i))
		} else if from := e.sourceOf(w.Name); from == "own" {
			own, value = true, weightsOf("own", w)
		} else {
			value = weightsOf("raw", w)
		}
		weights = append(weights, jen.Line().Id(e.raw[w.Name]).Op(":").Add(value))
	}
	values = append(values, jen.Id("weights").Op(":").Op("&").Id("trained").Values(append(weights, jen.Line())...))
	checked := []string{"raw"}
	if own {
		body = append(body, jen.Id("own").Op(":=").Qual(rtPath, "OpenWeights").Call(jen.Id("embedded")))
		checked = append(checked, "own")
	}
	body = append(body, jen.Id("t").Op(":=").Op("&").Id("Trainer").Values(values...))
	for _, w := range checked {
		body = append(body, jen.Qual(rtPath, "Keep").Call(jen.Id("t"), jen.Id(w)),
			jen.If(jen.Err().Op(":=").Id(w).Dot("Err").Call(), jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())))
	}
	body = append(body, e.trainer.calls()...)
	body = append(body, jen.Id("t").Dot("direct").Op("=").Id("newChanges").Call(jen.Id("base"), jen.False()))
	for _, m := range e.trainer.methods {
		if m.trains() {
			body = append(body, jen.Id("t").Dot(m.fn.pass).Op("=").Id("base").Dot("Pass").Call(e.passArgs(m)...))
		}
		for _, p := range m.out {
			if p.form == static {
				body = append(body, m.kept(p).Op("=").New(p.item()))
			}
		}
	}
	if _, ok := e.trainer.staticBytes(); ok {
		body = append(body, jen.If(jen.List(jen.Id("t").Dot("arena"), jen.Err()).Op("=").Qual(rtPath, "NewArena").Call(jen.Id("trainerArenaLen")), jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())))
	}
	for _, m := range e.trainer.methods {
		if m.fn.Plan.Mode != plan.Static && len(m.symbols) == 1 && m.symbols[0] == symbol {
			body = append(body, jen.If(jen.Err().Op(":=").Id("t").Dot(m.fn.opens()).Call(jen.Id("o").Dot("Batch")), jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())))
		}
	}
	body = append(body, jen.Return(jen.Id("t"), jen.Nil()))
	note(f, "NewTrainer returns a trainer of a copy of the model's weights; the model stays what it\nis.")
	f.Func().Params(jen.Id("m").Op("*").Id("Model")).Id("NewTrainer").Params(jen.Id("o").Id("TrainerOptions")).Params(jen.Op("*").Id("Trainer"), jen.Error()).Block(body...)

	var made []jen.Code
	for i, v := range e.Trainer.Variables {
		value := jen.Id("base").Dot("Gradient").Call(jen.Lit(i), jen.Id("aside"))
		if v.Buffer {
			value = jen.Id("base").Dot("Next").Call(jen.Lit(i))
		}
		made = append(made, jen.Line().Id(e.changeOf(v)).Op(":").Add(value))
	}
	note(f, "newChanges returns where steps write: among the gradients, or aside.")
	f.Func().Id("newChanges").Params(jen.Id("base").Op("*").Qual(rtPath, "Training"), jen.Id("aside").Bool()).Op("*").Id("changes").Block(
		jen.Return(jen.Op("&").Id("changes").Values(append(made, jen.Line())...)))
}

// sourceOf returns the variable of the weights that hold one: "own" for constants.
func (e *emitter) sourceOf(name string) string {
	if slices.ContainsFunc(slices.Concat(e.Outside, e.Trainer.Constants), func(w ir.Weight) bool { return w.Name == name }) {
		return "own"
	}
	return "raw"
}

// passArgs prints the gradients and the buffers of a step.
func (e *emitter) passArgs(m *method) []jen.Code {
	var gradients, buffers []jen.Code
	for i, name := range m.fn.IR.ResultNames {
		if weight, ok := strings.CutPrefix(name, gradPrefix); ok && i >= len(m.out) {
			k, _ := e.variableIndex(weight)
			gradients = append(gradients, jen.Line().Values(jen.Id("Variable").Op(":").Lit(k), jen.Id("End").Op(":").Lit(m.fn.backward.End[i])))
		}
		if weight, ok := strings.CutPrefix(name, statePrefix); ok && i >= len(m.out) {
			k, _ := e.variableIndex(weight)
			buffers = append(buffers, jen.Lit(k))
		}
	}
	list := jen.Nil()
	if len(buffers) > 0 {
		list = jen.Index().Int().Values(buffers...)
	}
	return []jen.Code{jen.Index().Qual(rtPath, "Backward").Values(append(gradients, jen.Line())...), list}
}

// trainerMethods prints the methods that every trainer has.
func (e *emitter) trainerMethods(f *jen.File) {
	t := func() *jen.Statement { return jen.Id("t").Op("*").Id("Trainer") }
	base := func() *jen.Statement { return jen.Id("t").Dot("base") }
	note(f, "Params returns the parameters that are trained, and their gradients.")
	f.Func().Params(t()).Id("Params").Params().Op("*").Qual(rtPath, "Params").Block(jen.Return(base().Dot("Params").Call()))
	note(f, "Model returns a model with a copy of the weights as they are now, prepared for inference\nwhen it is first used.")
	f.Func().Params(t()).Id("Model").Params().Op("*").Id("Model").Block(
		jen.Return(jen.Id("newModel").Call(holding(base().Dot("Weights").Call()))))
	note(f, "Weights returns a copy of the weights as they are now, which LoadFrom and Swap take.")
	f.Func().Params(t()).Id("Weights").Params().Op("*").Qual(rtPath, "Weights").Block(jen.Return(base().Dot("Weights").Call()))
	note(f, "State registers the weights, the seed and the count of steps, for rt.SaveState and\nrt.LoadState.")
	f.Func().Params(t()).Id("State").Params(jen.Id("s").Op("*").Qual(rtPath, "State")).Block(base().Dot("State").Call(jen.Id("s")))
	note(f, "SetContext makes the calls that follow end early, with the context's error, when ctx\nis done; a nil ctx never is.")
	f.Func().Params(t()).Id("SetContext").Params(jen.Id("ctx").Qual("context", "Context")).Block(jen.Id("t").Dot("ctx").Op("=").Id("ctx"))
	note(f, "enter begins a call.")
	f.Func().Params(t()).Id("enter").Params().Error().Block(
		jen.If(jen.Id("t").Op("==").Nil().Op("||").Id("t").Dot("base").Op("==").Nil()).Block(jen.Return(jen.Qual(rtPath, "ErrNoTrainer"))),
		jen.Return(jen.Id("t").Dot("guard").Dot("Enter").Call()))
	note(f, "into returns where a step writes.")
	f.Func().Params(t()).Id("into").Params(jen.Id("aside").Bool()).Op("*").Id("changes").Block(
		jen.If(jen.Op("!").Id("aside")).Block(jen.Return(jen.Id("t").Dot("direct"))),
		jen.If(jen.Id("t").Dot("aside").Op("==").Nil()).Block(jen.Id("t").Dot("aside").Op("=").Id("newChanges").Call(base(), jen.True())),
		jen.Return(jen.Id("t").Dot("aside")))
}

// kept prints where the trainer keeps a result.
func (a *api) kept(p port) *jen.Statement {
	dst := a.host.self().Dot("dst" + a.spec.Method)
	if a.outStruct() {
		return dst.Dot(p.field)
	}
	return dst
}

// trainerMethod prints a function's methods of Trainer: the one for callers, and the
// one that works.
func (e *emitter) trainerMethod(m *method) []jen.Code {
	a := m.api
	self := jen.Id("t").Op("*").Id("Trainer")
	dst := jen.Id("t").Dot("dst" + a.spec.Method)
	var body []jen.Code
	for _, p := range a.out {
		if p.form == batched {
			body = append(body, a.room(a.kept(p), jen.Id("dst")))
		}
	}
	target := dst.Clone()
	if a.isPointer() {
		target = jen.Op("&").Add(target)
	}
	enter := a.enter()
	if e.Trainer.Outer != nil { // the arena is no longer what it left
		enter = append(enter, jen.Id("t").Dot("pending").Op("=").False())
	}
	body = slices.Concat(enter, body, []jen.Code{
		jen.Err().Op("=").Id("t").Dot(runner(a.spec)).Call(append([]jen.Code{target}, a.passed()...)...),
		jen.Return(dst.Clone(), jen.Err()),
	})
	where := jen.Lit(a.where)
	var work []jen.Code
	work = append(work, jen.Defer().Qual(rtPath, "Recover").Call(where, jen.Op("&").Err()))
	work = append(work, a.checks(jen.Id("t").Dot("max").Dot("Limit").Call(jen.Lit(a.symbol)))...)
	work = append(work, a.begin()...)
	doc := a.spec.Method + " computes what the model's " + a.spec.Method + " does, with the weights as they are now."
	if a.trains() {
		pass := func() *jen.Statement { return jen.Id("t").Dot(a.fn.pass) }
		work = append(work,
			jen.Id("t").Dot("changes").Op("=").Id("t").Dot("into").Call(pass().Dot("Begin").Call()),
			jen.Return(pass().Dot("End").Call(a.run())))
		doc = a.spec.Method + " computes " + a.spec.Like.Method + " as training does, and adds the gradients of its first\nresult to those of Params. Statistics are updated once."
	} else {
		work = append(work, jen.Return(a.run()))
	}
	params := append([]jen.Code{jen.Id("dst").Add(a.dst())}, a.inputs()...)
	return []jen.Code{
		jen.Comment(lines(doc)),
		jen.Func().Params(self.Clone()).Id(a.spec.Method).Params(a.inputs()...).Params(jen.Id("dst").Add(a.outputs()), jen.Err().Error()).Block(body...),
		jen.Line(),
		jen.Comment(lines(runner(a.spec) + " is " + a.spec.Method + " into dst.")),
		jen.Func().Params(self).Id(runner(a.spec)).Params(params...).Params(jen.Err().Error()).Block(work...),
		jen.Line(),
	}
}

// enter prints the beginning of a trainer's method, which has results dst and err.
func (a *api) enter() []jen.Code {
	return []jen.Code{
		jen.If(jen.Err().Op(":=").Id("t").Dot("enter").Call(), jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Id("dst"), jen.Err())),
		jen.Defer().Id("t").Dot("guard").Dot("Leave").Call(),
	}
}
