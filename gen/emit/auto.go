package emit

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/runtime/rt"
)

// Member describes one of the packages that a package made by [Auto] chooses from.
type Member struct {
	// Target is the name of the package's target. Path is the package's import path.
	Target, Path string
	// OnDevice reports whether the package opens a device.
	OnDevice bool
}

// auto prints a package that chooses among members: packages of one model for several targets.
type auto struct {
	*emitter
	members []Member
	// own is the last member. The package declares aliases of its structs.
	own Member
}

// Auto prints the package m.Package, which chooses among packages of one model for several targets. The package has
// interfaces for the models, sessions and trainers of all members. It has the structs of the last member. m describes
// the last member. At run time the members are tried in their order. Auto returns an error as [Files] does.
func Auto(m *Model, members []Member) (files []File, err error) {
	err = ir.Try(func() {
		taken := *m
		taken.Taken = append(slices.Clone(m.Taken), "gpu", "keys", "path")
		for _, p := range members {
			taken.Taken = append(taken.Taken, p.Target, p.Target+"Model", p.Target+"Session", p.Target+"Trainer")
		}
		a := &auto{emitter: newEmitter(&taken), members: members, own: members[len(members)-1]}
		var b bytes.Buffer
		if err := a.file().Render(&b); err != nil {
			ir.Fail("burngen bug: %s: %w", m.Package, err)
		}
		data, err := wrapped(grouped(b.Bytes(), standardImports))
		if err != nil {
			ir.Fail("burngen bug: %s: %w", m.Package, err)
		}
		files = []File{{Name: "model.go", Data: data}}
		imports := []string{gpuPath}
		for _, p := range members {
			imports = append(imports, p.Path)
		}
		if err := guard(files, a.emitter, imports...); err != nil {
			ir.Fail("burngen bug: %w", err)
		}
	})
	return files, err
}

func (a *auto) file() *jen.File {
	f := a.newFile()
	var names []string
	for _, p := range a.members {
		if names = append(names, p.Target); path.Base(p.Path) == p.Target {
			f.ImportName(p.Path, p.Target)
		} else {
			f.ImportAlias(p.Path, p.Target)
		}
	}
	f.HeaderComment("source: " + comment(a.Source))
	f.HeaderComment("flags:  " + comment(a.Flags))
	f.PackageComment(lines("Package " + a.Package + " computes the model " + comment(fmt.Sprintf("%q", a.Title)) + " on the first target that the machine has:\n" +
		strings.Join(names, ", ") + ". The environment variable BURNGEN_TARGET forces one of them by its name.\n" +
		"The method Target of a [Model] says which one computes."))
	f.Add(from("version", fill{"version_": jen.Lit(rt.GenVersion)}))
	for _, m := range a.session.methods {
		add(f, m.types)
		a.aliases(f, m)
	}
	if a.trainer != nil {
		a.alias(f, "TrainerOptions", "configures a trainer.")
	}
	a.modelInterface(f)
	a.sessionInterface(f)
	a.trainerInterface(f)
	a.loaders(f)
	for _, p := range a.members {
		a.adapt(f, p)
	}
	return f
}

func (a *auto) aliases(f *jen.File, m *method) {
	if m.inStruct() {
		a.alias(f, m.spec.Inputs, "holds the arguments of "+m.spec.Method+".")
	}
	if m.outStruct() {
		a.alias(f, m.result, "holds the results of "+m.spec.Method+".")
	}
}

func (a *auto) alias(f *jen.File, name, doc string) {
	note(f, name+" "+doc)
	f.Type().Id(name).Op("=").Qual(a.own.Path, name)
}

func said(text string) jen.Code { return jen.Comment(lines(text)) }

func (a *api) returns() *jen.Statement { return jen.Params(a.outputs(), jen.Error()) }

func ctxParam() *jen.Statement { return jen.Id("ctx").Qual("context", "Context") }

func (a *auto) modelInterface(f *jen.File) {
	methods := []jen.Code{
		said("Target returns the name of the target that computes."),
		jen.Id("Target").Params().String(),
		said("Meta returns the names, element types and shapes of the inputs and outputs."),
		jen.Id("Meta").Params().Qual(rtPath, "Meta"),
	}
	for _, m := range a.session.methods {
		methods = append(methods,
			said(string(m.doc("", ""))),
			jen.Id(m.spec.Method).Params(m.inputs()...).Add(m.returns()),
			said(m.spec.Method+"Context is like "+m.spec.Method+". It ends early, with the context's error, when ctx is done."),
			jen.Id(m.spec.Method+"Context").Params(append([]jen.Code{ctxParam()}, m.inputs()...)...).Add(m.returns()))
	}
	methods = append(methods,
		said("NewSession opens a session. A call with an extent above limits returns an error."),
		jen.Id("NewSession").Params(jen.Id("limits").Qual(rtPath, "Max")).Params(jen.Id("Session"), jen.Error()))
	if a.trainer != nil {
		methods = append(methods,
			said("NewTrainer returns a trainer of a copy of the weights."),
			jen.Id("NewTrainer").Params(jen.Id("o").Id("TrainerOptions")).Params(jen.Id("Trainer"), jen.Error()))
	}
	if a.Store.Form().HasRaw() {
		methods = append(methods, said("Save writes the weights to a file, which LoadFrom reads."), jen.Id("Save").Params(jen.Id("path").String()).Error())
	}
	methods = append(methods,
		said("Swap replaces the weights while the model is in use. It takes weights as LoadFrom does."),
		jen.Id("Swap").Params(jen.Id("raw").Op("*").Qual(rtPath, "Weights"), keyOptions()).Error())
	note(f, "Model is the model with its weights, on one target. It is safe for concurrent use.")
	f.Type().Id("Model").Interface(methods...)
}

func keyOptions() jen.Code { return jen.Id("options").Op("...").Qual(keysPath, "Option") }

func (a *auto) sessionInterface(f *jen.File) {
	var methods []jen.Code
	for _, m := range a.session.methods {
		methods = append(methods, jen.Id(m.spec.Method).Params(append([]jen.Code{jen.Id("dst").Add(m.dst())}, m.inputs()...)...).Error())
	}
	methods = append(methods, jen.Id("SetContext").Params(ctxParam()))
	if len(a.session.states()) > 0 {
		methods = append(methods, jen.Id("Reset").Params())
	}
	note(f, "Session holds the memory of one call at a time. Its methods are those of the sessions of the targets'\npackages.")
	f.Type().Id("Session").Interface(methods...)
}

func (a *auto) trainerInterface(f *jen.File) {
	if a.trainer == nil {
		return
	}
	var methods []jen.Code
	for _, m := range a.trainer.methods {
		methods = append(methods, jen.Id(m.spec.Method).Params(m.inputs()...).Add(m.returns()))
		if m.halves != nil {
			methods = append(methods, jen.Id("Backward").Params(m.seedParams()...).Error())
		}
	}
	methods = append(methods,
		jen.Id("Params").Params().Op("*").Qual(rtPath, "Params"),
		jen.Id("LossScale").Params().Float64(),
		jen.Id("Weights").Params().Op("*").Qual(rtPath, "Weights"),
		jen.Id("State").Params(jen.Id("s").Op("*").Qual(rtPath, "State")),
		jen.Id("SetContext").Params(ctxParam()),
		jen.Id("Model").Params().Id("Model"))
	note(f, "Trainer trains a copy of a model's weights. Its methods are those of the trainers of the targets'\npackages.")
	f.Type().Id("Trainer").Interface(methods...)
}

func (a *auto) loaders(f *jen.File) {
	const first = "on the first target that the\nmachine has. Options choose the device and limit its memory. The CPU's package does not read them."
	options := jen.Id("options").Op("...").Qual(gpuPath, "Option")
	if _, ok := a.Store.(Drawn); ok {
		note(f, "New returns the model with initial weights, which are drawn from the seed, "+first)
		a.loader(f, "New", []jen.Code{jen.Id("seed").Uint64(), options}, jen.Id("options"), func(p Member) []jen.Code {
			made := jen.Qual(p.Path, "New").Call(jen.Id("seed"))
			if !p.OnDevice {
				return []jen.Code{jen.Return(a.modelOf(p, made), jen.Nil())}
			}
			return []jen.Code{jen.List(jen.Id("m"), jen.Err()).Op(":=").Add(made).Dot("On").Call(jen.Id("device").Op("...")), jen.Return(a.modelOf(p, jen.Id("m")), jen.Err())}
		})
	} else {
		from, params := a.source()
		note(f, "Load returns the model with the weights "+from+" "+first)
		a.loader(f, "Load", append(params, options), jen.Id("options"), func(p Member) []jen.Code {
			var args []jen.Code
			if len(params) > 0 {
				args = append(args, jen.Id("path"))
			}
			if p.OnDevice {
				args = append(args, jen.Id("device").Op("..."))
			}
			return []jen.Code{jen.List(jen.Id("m"), jen.Err()).Op(":=").Qual(p.Path, "Load").Call(args...), jen.Return(a.modelOf(p, jen.Id("m")), jen.Err())}
		})
	}
	raw := jen.Id("raw").Op("*").Qual(rtPath, "Weights")
	note(f, "LoadFrom returns the model with other weights, on the first target that the machine has. Options\nrename weights and say which may be missing or unused.")
	a.loader(f, "LoadFrom", []jen.Code{raw, keyOptions()}, jen.Nil(), func(p Member) []jen.Code {
		out := []jen.Code{jen.List(jen.Id("m"), jen.Err()).Op(":=").Qual(p.Path, "LoadFrom").Call(jen.Id("raw"), jen.Id("options").Op("..."))}
		if p.OnDevice {
			out = append(out, jen.If(jen.Err().Op("==").Nil()).Block(jen.List(jen.Id("m"), jen.Err()).Op("=").Id("m").Dot("On").Call(jen.Id("device").Op("..."))))
		}
		return append(out, jen.Return(a.modelOf(p, jen.Id("m")), jen.Err()))
	})
	note(f, "Wanted returns the names, types and shapes of the weights that LoadFrom takes. The caller must\nnot change them.")
	f.Func().Id("Wanted").Params().Index().Qual(keysPath, "Want").Block(jen.Return(jen.Qual(a.own.Path, "Wanted").Call()))
}

func (a *auto) loader(f *jen.File, name string, params []jen.Code, options jen.Code, load func(Member) []jen.Code) {
	args := []jen.Code{options}
	for _, p := range a.members {
		device := jen.Id("device")
		if !p.OnDevice {
			device = jen.Empty()
		}
		do := jen.Func().Params(device.Op("...").Qual(gpuPath, "Option")).Params(jen.Id("Model"), jen.Error()).Block(load(p)...)
		args = append(args, jen.Line().Qual(gpuPath, "Choice").Index(jen.Id("Model")).Values(jen.Id("Target").Op(":").Lit(p.Target), jen.Id("Load").Op(":").Add(do)))
	}
	f.Func().Id(name).Params(params...).Params(jen.Id("Model"), jen.Error()).Block(jen.Return(jen.Qual(gpuPath, "First").Call(append(args, jen.Line())...)))
}

func (a *auto) source() (text string, params []jen.Code) {
	switch a.Store.(type) {
	case Beside, Existing:
		return "of the file,", []jen.Code{jen.Id("path").String()}
	}
	return "in the program,", nil
}

func (a *auto) modelOf(p Member, m jen.Code) jen.Code { return jen.Id(p.Target + "Model").Values(m) }

func (a *auto) adapt(f *jen.File, p Member) {
	model := func() *jen.Statement { return jen.Id("m").Id(p.Target + "Model") }
	note(f, p.Target+"Model is the model for "+p.Target+".")
	f.Type().Id(p.Target + "Model").Struct(jen.Op("*").Qual(p.Path, "Model"))
	f.Line().Func().Params(jen.Id(p.Target + "Model")).Id("Target").Params().String().Block(jen.Return(jen.Lit(p.Target)))
	session := jen.Id("s")
	if a.converts(p, a.session) {
		session = jen.Id(p.Target + "Session").Values(session)
	}
	f.Line().Func().Params(model()).Id("NewSession").Params(jen.Id("limits").Qual(rtPath, "Max")).Params(jen.Id("Session"), jen.Error()).Block(
		opened("s", jen.Id("m").Dot("Model").Dot("NewSession").Call(jen.Id("limits")), session)...)
	for _, m := range a.session.methods {
		if a.converts(p, a.session) && (m.inStruct() || m.outStruct()) {
			f.Line().Func().Params(model()).Id(m.spec.Method).Params(m.inputs()...).Add(m.returns()).Block(
				a.returned(m.api, jen.Id("m").Dot("Model").Dot(m.spec.Method).Call(a.converted(p, m.api)...))...)
			name := m.spec.Method + "Context"
			f.Line().Func().Params(model()).Id(name).Params(append([]jen.Code{ctxParam()}, m.inputs()...)...).Add(m.returns()).Block(
				a.returned(m.api, jen.Id("m").Dot("Model").Dot(name).Call(append([]jen.Code{jen.Id("ctx")}, a.converted(p, m.api)...)...))...)
		}
	}
	if a.converts(p, a.session) {
		a.adaptSession(f, p)
	}
	if a.trainer != nil {
		f.Line().Func().Params(model()).Id("NewTrainer").Params(jen.Id("o").Id("TrainerOptions")).Params(jen.Id("Trainer"), jen.Error()).Block(
			opened("t", jen.Id("m").Dot("Model").Dot("NewTrainer").Call(a.as(p, "TrainerOptions", jen.Id("o"))), jen.Id(p.Target+"Trainer").Values(jen.Id("t")))...)
		a.adaptTrainer(f, p)
	}
}

// opened prints
//
//	id, err := call
//	if err != nil { return nil, err }
//	return adapted, nil
//
// The expression adapted may use the variable id.
func opened(id string, call *jen.Statement, adapted jen.Code) []jen.Code {
	return []jen.Code{
		jen.List(jen.Id(id), jen.Err()).Op(":=").Add(call),
		jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())),
		jen.Return(adapted, jen.Nil()),
	}
}

func (a *auto) adaptSession(f *jen.File, p Member) {
	note(f, p.Target+"Session is a session for "+p.Target+".")
	f.Type().Id(p.Target + "Session").Struct(jen.Op("*").Qual(p.Path, "Session"))
	for _, m := range a.session.methods {
		if !m.inStruct() && !m.outStruct() {
			continue
		}
		dst := jen.Id("dst")
		switch {
		case m.outStruct() && m.isPointer():
			dst = jen.Parens(jen.Op("*").Qual(p.Path, m.result)).Call(dst)
		case m.outStruct():
			dst = a.as(p, m.result, dst)
		}
		f.Line().Func().Params(jen.Id("s").Id(p.Target + "Session")).Id(m.spec.Method).Params(append([]jen.Code{jen.Id("dst").Add(m.dst())}, m.inputs()...)...).Error().Block(
			jen.Return(jen.Id("s").Dot("Session").Dot(m.spec.Method).Call(append([]jen.Code{dst}, a.converted(p, m.api)...)...)))
	}
}

func (a *auto) adaptTrainer(f *jen.File, p Member) {
	trainer := func() *jen.Statement { return jen.Id("t").Id(p.Target + "Trainer") }
	note(f, p.Target+"Trainer is a trainer for "+p.Target+".")
	f.Type().Id(p.Target + "Trainer").Struct(jen.Op("*").Qual(p.Path, "Trainer"))
	for _, m := range a.trainer.methods {
		if p.Target != a.own.Target && (m.inStruct() || m.outStruct()) {
			f.Line().Func().Params(trainer()).Id(m.spec.Method).Params(m.inputs()...).Add(m.returns()).Block(
				a.returned(m.api, jen.Id("t").Dot("Trainer").Dot(m.spec.Method).Call(a.converted(p, m.api)...))...)
		}
	}
	f.Line().Func().Params(trainer()).Id("Model").Params().Id("Model").Block(jen.Return(a.modelOf(p, jen.Id("t").Dot("Trainer").Dot("Model").Call())))
}

// converts reports whether calls of the member p must convert structs, because p's package has struct types of its
// own.
func (a *auto) converts(p Member, h *host) bool {
	return p.Target != a.own.Target && slices.ContainsFunc(h.methods, func(m *method) bool { return m.inStruct() || m.outStruct() })
}

func (a *auto) as(p Member, typ string, x *jen.Statement) *jen.Statement {
	if p.Target == a.own.Target {
		return x
	}
	return jen.Qual(p.Path, typ).Call(x)
}

func (a *auto) converted(p Member, m *api) []jen.Code {
	if m.inStruct() {
		return []jen.Code{a.as(p, m.spec.Inputs, jen.Id("in"))}
	}
	return m.passed()
}

func (a *auto) returned(m *api, call *jen.Statement) []jen.Code {
	if !m.outStruct() {
		return []jen.Code{jen.Return(call)}
	}
	return []jen.Code{jen.List(jen.Id("dst"), jen.Err()).Op(":=").Add(call), jen.Return(jen.Id(m.result).Call(jen.Id("dst")), jen.Err())}
}
