package emit

import (
	"fmt"
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/ir"
)

func (e *emitter) weightsFile() *jen.File {
	f := e.newFile()
	ret := func(x ...jen.Code) jen.Code { return jen.Return(x...) }
	fail := jen.If(jen.Err().Op("!=").Nil()).Block(ret(jen.Nil(), jen.Err()))

	if e.EmbeddedFile != "" {
		f.Anon("embed")
		f.Comment("//go:embed " + e.EmbeddedFile)
		f.Var().Id("embedded").String()
	}
	switch {
	case e.Raw:
		e.rawLoad(f)
	case e.Embed:
		note(f, "Load returns the model with the weights it was generated with, used in place.")
		f.Func().Id("Load").Params().Params(jen.Op("*").Id("Model"), jen.Error()).Block(
			ret(jen.Id("loadPrepared").Call(jen.Qual(rtPath, "OpenWeights").Call(jen.Id("embedded")))))
	default:
		note(f, "Load returns the model with the weights of a file that was generated with it, which\nis mapped into memory.")
		f.Func().Id("Load").Params(jen.Id("path").String()).Params(jen.Op("*").Id("Model"), jen.Error()).Block(
			jen.Id("w").Op(":=").Qual(rtPath, "OpenWeightsFile").Call(jen.Id("path")),
			jen.Defer().Id("w").Dot("Close").Call(),
			ret(jen.Id("loadPrepared").Call(jen.Id("w"))))
	}

	note(f, "LoadFrom returns the model with other weights of the names and shapes that the source\nmodel has: those that a training run saved.")
	f.Func().Id("LoadFrom").Params(jen.Id("raw").Op("*").Qual(rtPath, "Weights")).Params(jen.Op("*").Id("Model"), jen.Error()).Block(
		jen.List(jen.Id("w"), jen.Err()).Op(":=").Id("prepare").Call(jen.Id("raw").Dot("Fork").Call()),
		fail.Clone(),
		ret(jen.Id("newModel").Call(jen.Id("w")), jen.Nil()))

	var fields []jen.Code
	var values []jen.Code
	for _, p := range e.Prepared {
		fields = append(fields, jen.Id(e.fields[p.Name]).Index().Id(goType(p.Type.DType)).Comment(p.Type.String()))
		values = append(values, jen.Line().Id(e.fields[p.Name]).Op(":").Add(weightsOf("w", p)))
	}
	if e.Raw {
		fields = append(fields,
			jen.Id("raw").Op("*").Qual(rtPath, "Weights").Comment("that the others are made of"),
			jen.Id("err").Error().Comment("why there are no others"))
	}
	note(f, "weights holds the tensors as the kernels read them.")
	f.Type().Id("weights").Struct(fields...)

	if len(values) > 0 {
		values = append(values, jen.Line())
	}
	if !e.Raw {
		e.loadPrepared(f, values)
	}

	note(f, "prepare makes the tensors that the kernels read from those of the source model.")
	f.Func().Id("prepare").Params(jen.Id("raw").Op("*").Qual(rtPath, "Weights")).Params(jen.Op("*").Id("weights"), jen.Error()).Block(e.prepareBody(f)...)
	return f
}

// rawWeights prints the opening of a file of the model's own weights, without the
// constants that it holds.
func (e *emitter) rawWeights(open, what string) *jen.Statement {
	w := jen.Qual(rtPath, open).Call(jen.Id(what))
	if len(e.Outside)+len(e.Trainer.Constants) > 0 {
		w = w.Dot("Without").Call(jen.Lit(constPrefix))
	}
	return w
}

// constPrefix begins the names of constants, as package pass has it.
const constPrefix = "const/"

// initialWeights prints New.
func (e *emitter) initialWeights(f *jen.File) {
	var list []jen.Code
	for _, n := range e.Initial {
		dims := make([]jen.Code, len(n.Shape))
		for i, d := range n.Shape {
			dims[i] = jen.Lit(d)
		}
		init := []jen.Code{jen.Id("Kind").Op(":").Add(text(n.Init.Kind))}
		if n.Init.A != 0 {
			init = append(init, jen.Id("A").Op(":").Add(float(n.Init.A, 64)))
		}
		if n.Init.B != 0 {
			init = append(init, jen.Id("B").Op(":").Add(float(n.Init.B, 64)))
		}
		list = append(list, jen.Line().Values(
			jen.Id("Name").Op(":").Add(text(n.Name)), jen.Id("DType").Op(":").Add(text(n.DType)),
			jen.Id("Shape").Op(":").Index().Int().Values(dims...), jen.Id("Init").Op(":").Qual(rtPath, "Init").Values(init...)))
	}
	note(f, "initial says how the weights begin.")
	f.Var().Id("initial").Op("=").Index().Qual(rtPath, "Initial").Values(append(list, jen.Line())...)
	given := jen.Nil()
	if e.EmbeddedFile != "" {
		given = jen.Qual(rtPath, "OpenWeights").Call(jen.Id("embedded"))
	}
	note(f, "New returns the model with its initial weights, which the seed determines: those of\none seed are the same on every machine.")
	f.Func().Id("New").Params(jen.Id("seed").Uint64()).Op("*").Id("Model").Block(
		jen.List(jen.Id("w"), jen.Err()).Op(":=").Id("prepare").Call(jen.Qual(rtPath, "InitialWeights").Call(jen.Id("seed"), jen.Id("initial"), given)),
		jen.If(jen.Err().Op("!=").Nil()).Block(jen.Id("w").Op("=").Op("&").Id("weights").Values(jen.Id("err").Op(":").Err())),
		jen.Return(jen.Id("newModel").Call(jen.Id("w"))))
}

// loadPrepared prints the reading of prepared weights.
func (e *emitter) loadPrepared(f *jen.File, values []jen.Code) {
	note(f, "loadPrepared returns the model with the weights of its own file.")
	f.Func().Id("loadPrepared").Params(jen.Id("w").Op("*").Qual(rtPath, "Weights")).Params(jen.Op("*").Id("Model"), jen.Error()).Block(
		jen.Id("p").Op(":=").Op("&").Id("weights").Values(values...),
		jen.If(jen.Err().Op(":=").Id("w").Dot("Err").Call(), jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())),
		jen.Qual(rtPath, "Keep").Call(jen.Id("p"), jen.Id("w")),
		jen.Return(jen.Id("newModel").Call(jen.Id("p")), jen.Nil()))
}

// rawLoad prints Load and Save for a file of the model's own weights.
func (e *emitter) rawLoad(f *jen.File) {
	switch {
	case e.Initial != nil:
		e.initialWeights(f)
	case e.Embed:
		note(f, "Load returns the model with the weights it was generated with.")
		f.Func().Id("Load").Params().Params(jen.Op("*").Id("Model"), jen.Error()).Block(
			jen.Return(jen.Id("LoadFrom").Call(e.rawWeights("OpenWeights", "embedded"))))
	default:
		note(f, "Load returns the model with the weights of a file that was generated with it, or that\nSave wrote, which is mapped into memory.")
		f.Func().Id("Load").Params(jen.Id("path").String()).Params(jen.Op("*").Id("Model"), jen.Error()).Block(
			jen.Id("w").Op(":=").Add(e.rawWeights("OpenWeightsFile", "path")),
			jen.Defer().Id("w").Dot("Close").Call(),
			jen.Return(jen.Id("LoadFrom").Call(jen.Id("w"))))
	}
	note(f, "Save writes the weights to a file, under the names that the source model has: LoadFrom\nreads it.")
	f.Func().Params(jen.Id("m").Op("*").Id("Model")).Id("Save").Params(jen.Id("path").String()).Error().Block(
		jen.Id("w").Op(":=").Id("m").Dot("weights").Dot("Load").Call(),
		jen.If(jen.Id("w").Dot("err").Op("!=").Nil()).Block(jen.Return(jen.Id("w").Dot("err"))),
		jen.Return(jen.Id("w").Dot("raw").Dot("Save").Call(jen.Id("path"))))
}

// weightsOf prints the slice of a tensor of a weights file.
func weightsOf(from string, p Prepared) *jen.Statement {
	args := []jen.Code{jen.Id(from), text(p.Name)}
	shape, _ := p.Type.Static()
	for _, n := range shape {
		args = append(args, jen.Lit(n))
	}
	return jen.Qual(rtPath, "WeightsOf").Index(jen.Id(goType(p.Type.DType))).Call(args...)
}

// prepareBody prints the statements of prepare, and the functions for its parts
// when it has many steps.
func (e *emitter) prepareBody(f *jen.File) []jen.Code {
	fn := e.prepare
	var body []jen.Code
	from := func(name string) string {
		if slices.ContainsFunc(e.Outside, func(w ir.Weight) bool { return w.Name == name }) {
			return "own"
		}
		return "raw"
	}
	own := len(e.Outside) > 0
	if own {
		body = append(body, jen.Id("own").Op(":=").Qual(rtPath, "OpenWeights").Call(jen.Id("embedded")))
	}
	var values []jen.Code
	for _, p := range e.Prepared {
		field := jen.Line().Id(e.fields[p.Name]).Op(":")
		if slices.Contains(fn.IR.ResultNames, p.Name) {
			n, _ := p.Type.Elems().Int()
			values = append(values, field.Qual(rtPath, "Make").Index(jen.Id(goType(p.Type.DType))).Call(jen.Lit(n)))
		} else {
			values = append(values, field.Add(weightsOf(from(p.Name), p)))
		}
	}
	if e.Raw {
		values = append(values, jen.Line().Id("raw").Op(":").Id("raw"))
	}
	if len(values) > 0 {
		values = append(values, jen.Line())
	}
	checked := func(results ...jen.Code) []jen.Code {
		check := func(w string) jen.Code {
			return jen.If(jen.Err().Op(":=").Id(w).Dot("Err").Call(), jen.Err().Op("!=").Nil()).Block(jen.Return(append(slices.Clone(results), jen.Err())...))
		}
		if own {
			return []jen.Code{check("raw"), check("own")}
		}
		return []jen.Code{check("raw")}
	}
	body = append(body, jen.Id("p").Op(":=").Op("&").Id("weights").Values(values...))
	body = append(body, checked(jen.Nil())...)
	body = append(body, jen.Qual(rtPath, "Keep").Call(jen.Id("p"), jen.Id("raw")))
	if own {
		body = append(body, jen.Qual(rtPath, "Keep").Call(jen.Id("p"), jen.Id("own")))
	}
	arena, _ := fn.Plan.Size.Int()
	if arena > 0 {
		body = append(body,
			jen.List(jen.Id("arena"), jen.Err()).Op(":=").Qual(rtPath, "NewArena").Call(jen.Lit(arena)),
			jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())))
	}
	params := []jen.Code{jen.Id("p").Op("*").Id("weights"), jen.Id("raw").Op("*").Qual(rtPath, "Weights")}
	args := []jen.Code{jen.Id("p"), jen.Id("raw")}
	if own {
		params, args = append(params, jen.Id("own").Op("*").Qual(rtPath, "Weights")), append(args, jen.Id("own"))
	}
	if arena > 0 {
		params, args = append(params, jen.Id("arena").Index().Byte()), append(args, jen.Id("arena"))
	}
	types := map[string]ir.Type{}
	for n := range fn.IR.All() {
		if l, ok := n.Op.(ir.Load); ok {
			types[l.Name] = l.Type
		}
	}
	for i, steps := range fn.parts() {
		if len(steps) == 0 {
			continue
		}
		printed, views := fn.body(steps)
		var defs []jen.Code
		for _, name := range loads(fn.IR) {
			if views.weights[name] {
				defs = append(defs, fn.weights[name].Clone().Op("=").Add(weightsOf(from(name), Prepared{name, types[name]})))
			}
		}
		part := []jen.Code{jen.Var().Defs(defs...)}
		part = append(append(part, checked()...), printed...)
		name := e.global.unique(fmt.Sprintf("prepare%d", i+1))
		note(f, name+" makes some of the tensors of p.")
		f.Func().Id(name).Params(params...).Error().Block(append(part, jen.Return(jen.Nil()))...)
		body = append(body, jen.If(jen.Err().Op(":=").Id(name).Call(args...), jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())))
	}
	return append(body, jen.Return(jen.Id("p"), jen.Nil()))
}
