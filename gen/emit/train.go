package emit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/gen/gotype"
	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/plan"
)

var trainerReserved = strings.Fields("TrainerOptions trained changes variables")

var trainerMembers = strings.Fields("Trainer SetContext Params Model State Weights LossScale")

// Prefixes of results that callers do not get; see package grad.
const (
	gradPrefix  = "grad/"
	statePrefix = "state/"
)

func (e *emitter) nameTrainer() {
	e.raw, e.changes = map[string]string{}, map[string]string{}
	fields := newNames()
	for _, w := range e.Trainer.Weights {
		e.raw[w.Name] = fields.unique(ir.Unexported(w.Name))
	}
	fields = newNames()
	for _, v := range e.Trainer.Variables {
		prefix := gradPrefix
		if v.Buffer {
			prefix = statePrefix
		}
		e.changes[prefix+v.Weight] = fields.unique(ir.Unexported(v.Name))
	}
	weights := map[string]*jen.Statement{}
	for name, field := range e.raw {
		weights[name] = jen.Id("w").Dot(field)
	}
	e.trainer = &host{typ: "Trainer", recv: "t", names: e.members(trainerMembers), locals: []string{"g"}}
	specs := slices.Concat(e.Trainer.Steps, e.Trainer.Evals)
	if e.Trainer.Outer != nil {
		specs = append(specs, e.Trainer.Outer)
		for _, name := range []string{"Backward", "backward"} {
			e.trainer.names.unique(name)
		}
	}
	for _, spec := range specs {
		for _, name := range []string{spec.Method, "dst" + spec.Method} {
			e.trainer.names.unique(name)
		}
	}
	e.addMethods(e.trainer, specs, weights)
	for _, m := range e.trainer.methods {
		m.store = "dst" + m.spec.Method
		for _, fn := range m.all() {
			fn.lap = e.Lap
		}
		if m.trains() {
			m.fn.watches = e.Trainer.CheckNaN
			m.fn.backward = m.fn.Func.Backward(func(result int) bool {
				return result >= m.fn.ports && strings.HasPrefix(m.fn.IR.ResultNames[result], gradPrefix)
			})
		}
		if m.spec == e.Trainer.Outer {
			m.halve(e.trainer.names)
		}
	}
}

// halve splits the method's function before the first step that uses the caller's gradients, and sets
// m.halves. names is the scope of the trainer's fields and methods.
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

func (a *api) trains() bool { return len(a.fn.IR.Results) > len(a.out) }

func (f *function) mayEnd(steps []program.Step) bool {
	return f.backward != nil && slices.ContainsFunc(steps, func(s program.Step) bool { _, ok := f.backward.Exits[s]; return ok })
}

// optional returns `printed`, the statements of step s. If f computes gradients, optional may add to them: a search
// for NaN in the results; an if statement that skips s if only one gradient needs s and the caller does not want this
// gradient; and a return, if the schedule may end after s.
func (f *function) optional(s program.Step, printed []jen.Code, v *views) []jen.Code {
	if f.backward == nil {
		return printed
	}
	if f.watches && program.Computes(s) {
		printed = append(printed, f.watched(s, v)...)
	}
	if i, ok := f.backward.Only[s]; ok && !f.backward.Needed[i] {
		v.gradients = true
		printed = []jen.Code{jen.If(f.id(f.results[i]).Op("!=").Nil()).Block(printed...)}
	}
	if n, ok := f.backward.Exits[s]; ok {
		printed = append(printed, jen.If(frame("Ends").Call(jen.Lit(n))).Block(jen.Return(jen.Nil())))
	}
	return printed
}

// watched prints the calls that look for NaN in the f32 results of a step's node. It looks only at results that are
// in the arena or are results of the function. It returns nil if the step has no node or only moves elements.
func (f *function) watched(s program.Step, v *views) []jen.Code {
	n := s.At()
	if n == nil || f.printer.Moves(s) {
		return nil
	}
	var out []jen.Code
	for _, r := range n.Results {
		place, ok := f.Plan.Places[r]
		if !ok || r.Type.DType != ir.F32 || place.Kind != plan.Arena && place.Kind != plan.Result {
			continue
		}
		ref := &plan.Ref{Place: place, DType: ir.F32, Len: r.Type.Elems(), Value: r}
		out = append(out, frame("Watch").Dot("See").Call(Text(nodeName(n)), f.slice(ref, v)))
	}
	return out
}

func nodeName(n *ir.Node) string {
	if n.Pos != "" {
		return n.Pos
	}
	return ir.OpName(n.Op)
}

// batchSymbol returns the symbol that TrainerOptions.Batch bounds. It is the first extent of an argument: the first
// argument whose first extent is a symbol. batchSymbol returns "" if there is no such argument.
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

func (e *emitter) trainFile() *jen.File {
	if e.trainer == nil {
		return nil
	}
	f := e.newFile()
	e.trainerType(f)
	e.newTrainer(f)
	f.Add(from("Trainer.Model", fill{"open_": e.instanceVar(jen.Id("t").Dot(runField).Dot("Instance").Call()), "prepare_": e.preparer(), "device_": e.instanceArg(jen.Id(instance))}))
	for _, m := range e.trainer.methods {
		f.Add(m.trainerMethod())
		if m.halves != nil {
			f.Add(m.backwardMethod())
		}
	}
	return f
}

func (e *emitter) backwardFile() *jen.File {
	if e.trainer == nil {
		return nil
	}
	f := e.newFile()
	var fields []jen.Code
	for _, w := range e.Trainer.Weights {
		fields = append(fields, jen.Id(e.raw[w.Name]).Index().Id(gotype.Elem(w.Type.DType)).Comment(w.Type.String()))
	}
	note(f, "trained holds the weights of the source model, which training reads.")
	f.Type().Id("trained").Struct(fields...)
	fields = nil
	for _, v := range e.Trainer.Variables {
		what := "gradient, "
		if v.Buffer {
			what = "new value, "
		}
		fields = append(fields, jen.Id(e.changeOf(v)).Index().Float32().Comment(what+v.Type.String()))
	}
	note(f, "changes holds the gradients and other values that steps write besides their results. A nil\nfield is not wanted.")
	f.Type().Id("changes").Struct(fields...)
	for _, m := range e.trainer.methods {
		m.schedule(f)
	}
	add(f, e.Printer.Funcs())
	return f
}

func (e *emitter) changeOf(v Variable) string {
	if v.Buffer {
		return e.changes[statePrefix+v.Weight]
	}
	return e.changes[gradPrefix+v.Weight]
}

func (e *emitter) trainerType(f *jen.File) {
	var batch []jen.Code
	if s := e.batchSymbol(); s != "" {
		batch = append(batch, jen.Id("Batch").Int().Comment("the largest "+comment(s)+", 1 or more"))
	}
	checks := prose("a step that computes a NaN returns an error that names the first such node")
	if !e.Trainer.CheckNaN {
		checks = "needs a package generated with -check-nan: NewTrainer returns an error"
	}
	f.Add(from("TrainerOptions", fill{"Batch_": batch, "checks_": checks}))

	var list []jen.Code
	for _, v := range e.Trainer.Variables {
		shape, _ := v.Type.Static()
		fields := []jen.Code{jen.Id("Name").Op(":").Add(Text(v.Name)), jen.Id("Shape").Op(":").Index().Int().Values(numbers(shape)...)}
		if v.Type.DType != ir.F32 {
			fields = append(fields, jen.Id("DType").Op(":").Lit(v.Type.DType.String()))
		}
		if v.Buffer {
			fields = append(fields, jen.Id("Buffer").Op(":").True())
		} else if e.isNeeded(v) {
			fields = append(fields, jen.Id("Needed").Op(":").True())
		}
		if field, ok := e.raw[v.Weight]; ok {
			fields = append(fields, jen.Id("Weight").Op(":").Op("&").Id("w").Dot(field))
		}
		fields = append(fields, jen.Id("Change").Op(":").Op("&").Id("g").Dot(e.changeOf(v)))
		list = append(list, jen.Values(fields...))
	}
	f.Add(from("variables", fill{"variable_": fieldsOf(list)}))

	fields := append(e.deviceFields(), e.trainer.fields()...)
	for _, m := range e.trainer.methods {
		if m.halves != nil {
			for _, p := range m.in {
				fields = append(fields, jen.Id(m.savedField(p)).Add(m.argument(p)))
			}
		}
		fields = append(fields, jen.Id(m.store).Add(m.outputs()).Comment("of "+m.spec.Method))
	}
	f.Add(from("Trainer", fill{"Field_": fields}))
}

// isNeeded reports whether the gradient of v is computed even if the caller does not want it. It is if another result
// needs a step that reads or writes the gradient.
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

func (e *emitter) variableIndex(name string) (int, bool) {
	i := slices.IndexFunc(e.Trainer.Variables, func(v Variable) bool { return v.Weight == name })
	return i, i >= 0
}

func (e *emitter) newTrainer(f *jen.File) {
	option := func(name string, value *jen.Statement) jen.Code { return jen.Id(name).Op(":").Add(value) }
	given := func(name string) jen.Code { return option(name, jen.Id("o").Dot(name)) }
	options := []jen.Code{option("Where", jen.Lit(e.Title+": NewTrainer"))}
	if symbol := e.batchSymbol(); symbol == "" {
		options = append(options, option("Batch", jen.Lit(1)))
	} else {
		options = append(options, given("Batch"), option("Symbol", jen.Lit(symbol)))
	}
	options = append(options, given("Seed"), given("Freeze"), given("CheckNaN"))
	if !e.Trainer.CheckNaN {
		options = append(options, option("Unchecked", jen.True()))
	}
	if e.Trainer.Scaled {
		options = append(options, option("Scaled", jen.True()))
	}
	if limits := e.limits(e.trainer.symbols()); len(limits) > 0 {
		options = append(options, option("Limits", jen.Qual(rtPath, "Max").Values(limits...)))
	}
	var weights, read []jen.Code
	kept := []jen.Code{jen.Id("raw")}
	for _, w := range e.Trainer.Weights {
		if _, ok := e.variableIndex(w.Name); ok {
			continue
		}
		from := e.sourceOf(w.Name)
		if from == "own" && len(kept) == 1 {
			read = append(read, jen.Id("own").Op(":=").Qual(rtPath, "OpenWeights").Call(jen.Id("embedded")))
			kept = append(kept, jen.Id("own"))
		}
		weights = append(weights, jen.Id(e.raw[w.Name]).Op(":").Add(weightsOf(from, w)))
	}
	options = append(options, option("Kept", jen.Index().Op("*").Qual(rtPath, "Weights").Values(kept...)))
	var methods []jen.Code
	after := append(e.openDevice(e.trainer), e.trainer.calls()...)
	for _, m := range e.trainer.methods {
		methods = append(methods, jen.Op("&").Id(m.descriptor))
		for _, p := range m.out {
			if p.form == static {
				after = append(after, m.given(p).Op("=").New(p.item()))
			}
		}
	}
	f.Add(from("Model.NewTrainer", fill{"read_": read, "tensor_": fieldsOf(weights), "method_": methods, "fields_": after,
		"options_": jen.Qual(rtPath, "TrainingOptions").Values(fieldsOf(options)...)}))
}

func (e *emitter) sourceOf(name string) string {
	if slices.ContainsFunc(slices.Concat(e.Outside, e.Trainer.Constants), func(w ir.Weight) bool { return w.Name == name }) {
		return "own"
	}
	return "raw"
}

func (e *emitter) pass(m *method) []jen.Code {
	if !m.trains() {
		return nil
	}
	ends, updates := make([]int, len(e.Trainer.Variables)), []int(nil)
	for i, name := range m.fn.IR.ResultNames {
		if i < len(m.out) {
			continue
		}
		if weight, ok := strings.CutPrefix(name, gradPrefix); ok {
			k, _ := e.variableIndex(weight)
			ends[k] = m.fn.backward.End[i]
		}
		if weight, ok := strings.CutPrefix(name, statePrefix); ok {
			k, _ := e.variableIndex(weight)
			updates = append(updates, k)
		}
	}
	out := []jen.Code{jen.Id("Ends").Op(":").Index().Int().Values(numbers(ends)...)}
	if len(updates) > 0 {
		out = append(out, jen.Id("Updates").Op(":").Index().Int().Values(numbers(updates)...))
	}
	if m.halves != nil {
		out = append(out, jen.Id("Backward").Op(":").Lit(e.Title+": Backward"))
	}
	return out
}

func checkedWith(call *jen.Statement) jen.Code {
	return jen.If(jen.Err().Op(":=").Add(call), jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Id("dst"), jen.Err()))
}

func (m *method) trainerMethod() jen.Code {
	a := m.api
	doc := a.spec.Method + " computes what the model's " + a.spec.Method + " does, with the weights as they are now."
	checks := a.checks(checkedWith)
	switch {
	case m.halves != nil:
		doc = a.spec.Method + " computes " + a.spec.Like.Method + " as training does, for a loss that the caller computes: Backward\ntakes its gradients. Arguments and results must stay as they are until then."
		checks = append(checks, a.saves()...)
	case a.trains():
		doc = a.spec.Method + " computes " + a.spec.Like.Method + " as training does, and adds the gradients of its first\nresult to the gradients in Params. Statistics are updated once."
	}
	return from("Trainer.Method_", fill{"doc_": prose(doc), "Method_": name(a.spec.Method), "Param_": a.inputs(), "Result_": a.outputs(),
		"method_": jen.Op("&").Id(m.descriptor), "passed_": a.checked(), "checks_": checks, "schedule_": name(a.fn.name), "param_": a.arguments(nil), "result_": a.dest()})
}
