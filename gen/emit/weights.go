package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/plan"
)

func (e *emitter) weightsFile() *jen.File {
	f := e.newFile()
	ret := func(x ...jen.Code) jen.Code { return jen.Return(x...) }
	fail := jen.If(jen.Err().Op("!=").Nil()).Block(ret(jen.Nil(), jen.Err()))

	if e.Embed {
		f.Anon("embed")
		f.Comment("//go:embed " + e.WeightsFile)
		f.Var().Id("embedded").String()
		note(f, "Load returns the model with the weights it was generated with, used in place.")
		f.Func().Id("Load").Params().Params(jen.Op("*").Id("Model"), jen.Error()).Block(
			ret(jen.Id("loadPrepared").Call(jen.Qual(rtPath, "OpenWeights").Call(jen.Id("embedded")))))
	} else {
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
	note(f, "weights holds the tensors as the kernels read them.")
	f.Type().Id("weights").Struct(fields...)

	if len(values) > 0 {
		values = append(values, jen.Line())
	}
	note(f, "loadPrepared returns the model with the weights of its own file.")
	f.Func().Id("loadPrepared").Params(jen.Id("w").Op("*").Qual(rtPath, "Weights")).Params(jen.Op("*").Id("Model"), jen.Error()).Block(
		jen.Id("p").Op(":=").Op("&").Id("weights").Values(values...),
		jen.If(jen.Err().Op(":=").Id("w").Dot("Err").Call(), jen.Err().Op("!=").Nil()).Block(ret(jen.Nil(), jen.Err())),
		jen.Qual(rtPath, "Keep").Call(jen.Id("p"), jen.Id("w")),
		ret(jen.Id("newModel").Call(jen.Id("p")), jen.Nil()))

	note(f, "prepare makes the tensors that the kernels read from those of the source model.")
	f.Func().Id("prepare").Params(jen.Id("raw").Op("*").Qual(rtPath, "Weights")).Params(jen.Op("*").Id("weights"), jen.Error()).Block(e.prepareBody()...)
	return f
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

func (e *emitter) prepareBody() []jen.Code {
	fn := e.prepare
	var body []jen.Code
	if len(e.Outside) > 0 && e.Embed {
		body = append(body, jen.Id("own").Op(":=").Qual(rtPath, "OpenWeights").Call(jen.Id("embedded")))
	}
	outside := map[string]bool{}
	for _, w := range e.Outside {
		outside[w.Name] = true
	}
	from := func(name string) string {
		if outside[name] && e.Embed {
			return "own"
		}
		return "raw"
	}
	used := map[string]ir.Type{}
	for n := range fn.IR.All() {
		if l, ok := n.Op.(ir.Load); ok {
			used[l.Name] = l.Type
		}
	}
	var defs []jen.Code
	for _, name := range loads(fn.IR) {
		defs = append(defs, fn.weights[name].Clone().Op("=").Add(weightsOf(from(name), Prepared{name, used[name]})))
	}
	made := map[string]bool{}
	for _, name := range fn.IR.ResultNames {
		made[name] = true
	}
	var values []jen.Code
	for _, p := range e.Prepared {
		field := jen.Line().Id(e.fields[p.Name]).Op(":")
		if !made[p.Name] {
			values = append(values, field.Add(weightsOf(from(p.Name), p)))
			continue
		}
		n, _ := p.Type.Elems().Int()
		values = append(values, field.Qual(rtPath, "Make").Index(jen.Id(goType(p.Type.DType))).Call(jen.Lit(n)))
	}
	if len(values) > 0 {
		values = append(values, jen.Line())
	}
	body = append(body, jen.Id("p").Op(":=").New(jen.Id("weights")), jen.Qual(rtPath, "Keep").Call(jen.Id("p"), jen.Id("raw")))
	if len(defs) > 0 {
		body = append(body, jen.Var().Defs(defs...))
	}
	body = append(body, jen.Op("*").Id("p").Op("=").Id("weights").Values(values...))
	body = append(body, jen.If(jen.Err().Op(":=").Id("raw").Dot("Err").Call(), jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())))
	if len(e.Outside) > 0 && e.Embed {
		body = append(body, jen.If(jen.Err().Op(":=").Id("own").Dot("Err").Call(), jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())))
	}
	if size, _ := fn.Plan.Size.Int(); fn.Plan.Mode == plan.Static && size > 0 {
		body = append(body,
			jen.List(jen.Id("arena"), jen.Err()).Op(":=").Qual(rtPath, "NewArena").Call(jen.Lit(size)),
			jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())))
	}
	if len(fn.Steps) > 0 {
		steps, _ := fn.body(fn.Steps)
		body = append(body, steps...)
	}
	return append(body, jen.Return(jen.Id("p"), jen.Nil()))
}
