package emit

import (
	"fmt"
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/runtime/rt"
	"github.com/burngen/burngen/runtime/rt/keys"
)

func (e *emitter) weightsFile() *jen.File {
	f := e.newFile()
	ret := func(x ...jen.Code) jen.Code { return jen.Return(x...) }

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

	e.loadFrom(f)

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
	switch {
	case !e.Raw:
		e.loadPrepared(f, values)
	case e.Stored:
		e.stored(f, values)
	}

	note(f, "prepare makes the tensors that the kernels read from those of the source model.")
	f.Func().Id("prepare").Params(jen.Id("raw").Op("*").Qual(rtPath, "Weights")).Params(jen.Op("*").Id("weights"), jen.Error()).Block(e.prepareBody(f)...)
	add(f, e.chains.take())
	return f
}

// wantedVar prints the list of the weights that LoadFrom takes.
func (e *emitter) wantedVar(f *jen.File) {
	var list []jen.Code
	for _, w := range e.Wanted {
		fields := []jen.Code{jen.Id("Name").Op(":").Add(text(w.Name)), jen.Id("DType").Op(":").Add(text(w.DType)), jen.Id("Shape").Op(":").Index().Int().Values(numbers(w.Shape)...)}
		if len(w.Aliases) > 0 {
			var names []jen.Code
			for _, name := range w.Aliases {
				names = append(names, text(name))
			}
			fields = append(fields, jen.Id("Aliases").Op(":").Index().String().Values(names...))
		}
		switch w.Layout {
		case keys.InOut:
			fields = append(fields, jen.Id("Layout").Op(":").Qual(keysPath, "InOut"))
		case keys.OutIn:
			fields = append(fields, jen.Id("Layout").Op(":").Qual(keysPath, "OutIn"))
		}
		if w.Optional {
			fields = append(fields, jen.Id("Optional").Op(":").True())
		}
		list = append(list, jen.Line().Values(fields...))
	}
	if len(list) > 0 {
		list = append(list, jen.Line())
	}
	note(f, "wanted are the weights of the source model.")
	f.Var().Id("wanted").Op("=").Index().Qual(keysPath, "Want").Values(list...)
	note(f, "Wanted returns the names, types and shapes of the weights that LoadFrom takes, which\nmust not be changed.")
	f.Func().Id("Wanted").Params().Index().Qual(keysPath, "Want").Block(jen.Return(jen.Id("wanted")))
}

// loadFrom prints what takes other weights than the package's own.
func (e *emitter) loadFrom(f *jen.File) {
	raw := jen.Id("raw").Op("*").Qual(rtPath, "Weights")
	options := jen.Id("options").Op("...").Qual(keysPath, "Option")
	own, current, missing := jen.Nil(), jen.Nil(), "The package has no\nweights of its own to stand in for missing ones."
	fn := func(w jen.Code) *jen.Statement {
		return jen.Func().Params().Op("*").Qual(rtPath, "Weights").Block(jen.Return(w))
	}
	switch {
	case e.Raw:
		missing = "For what\nmay be missing, the package's own weights stand in."
		current = fn(jen.Id("m").Dot("weights").Dot("Load").Call().Dot("Raw").Call())
		if e.Initial != nil {
			missing = "For what\nmay be missing, the weights of New(0) stand in."
			own = fn(e.drawn(jen.Lit(0)))
		} else if e.Embed {
			own = fn(jen.Qual(rtPath, "OpenWeights").Call(jen.Id("embedded")))
		} else {
			missing = "No others\nstand in for missing ones."
		}
	case slices.ContainsFunc(e.Wanted, func(w keys.Want) bool { return w.Optional }):
		own = fn(jen.Qual(rtPath, "OpenWeights").Call(jen.Id("embedded")))
		current = own.Clone()
	}
	note(f, "LoadFrom returns the model with other weights of the names and shapes that the source\nmodel has, as rt.OpenWeightsFile and pytorch.Open return them; raw may be closed after.\nOptions rename weights and say which may be missing or unused. "+missing+" An error tells all that does not fit.")
	f.Func().Id("LoadFrom").Params(raw.Clone(), options.Clone()).Params(jen.Op("*").Id("Model"), jen.Error()).Block(
		jen.List(jen.Id("w"), jen.Err()).Op(":=").Id("fitted").Call(jen.Id("raw"), own, jen.Id("options")),
		jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())),
		jen.Return(jen.Id("newModel").Call(jen.Id("w")), jen.Nil()))
	result, fit := e.held(), []jen.Code{jen.Return(jen.Id("prepare").Call(jen.Id("w")))}
	replace := jen.Null()
	if e.Raw {
		fit = lazily("w", func(w jen.Code) jen.Code { return w })
		replace = jen.If(jen.Err().Op(":=").Id("w").Dot("Replace").Call(jen.Id("m").Dot("weights").Dot("Load").Call()), jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Err()))
	}
	note(f, "Swap gives the model other weights, as LoadFrom takes them, while it is in use: calls\nthat have begun compute with the old ones, and all that begin after it with the new ones.\nOn error the model stays what it is.")
	f.Func().Params(jen.Id("m").Op("*").Id("Model")).Id("Swap").Params(raw, options).Error().Block(
		loaded(),
		jen.List(jen.Id("w"), jen.Err()).Op(":=").Id("fitted").Call(jen.Id("raw"), current, jen.Id("options")),
		jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Err())),
		replace,
		jen.Id("m").Dot("weights").Dot("Store").Call(jen.Id("w")),
		jen.Return(jen.Nil()))
	doc := "fitted makes the tensors that the kernels read from those of other weights."
	if e.Raw {
		doc = "fitted returns other weights under the names and in the shapes of the source model."
	}
	note(f, doc)
	f.Func().Id("fitted").Params(jen.Id("raw").Op("*").Qual(rtPath, "Weights"), jen.Id("own").Func().Params().Op("*").Qual(rtPath, "Weights"), jen.Id("options").Index().Qual(keysPath, "Option")).Params(jen.Op("*").Add(result), jen.Error()).Block(append([]jen.Code{
		jen.List(jen.Id("w"), jen.Err()).Op(":=").Qual(keysPath, "Load").Call(jen.Id("raw"), jen.Id("own"), jen.Id("wanted"), jen.Id("options").Op("...")),
		jen.If(jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())),
	}, fit...)...)
	e.wantedVar(f)
}

// held prints the type of what a model's pointer leads to: weights as kernels read them, or
// those of the source model, which are prepared when that is first asked for.
func (e *emitter) held() *jen.Statement {
	if e.Raw {
		return jen.Qual(rtPath, "Prepared").Index(jen.Id("weights"))
	}
	return jen.Id("weights")
}

// holding prints the weights of the source model, to be prepared when that is first asked for.
func holding(raw jen.Code) *jen.Statement {
	return jen.Qual(rtPath, "NewPrepared").Call(raw, jen.Id("prepare"))
}

// lazily prints the check of a file's tensors, and the return of what holds them.
func lazily(raw string, result func(held jen.Code) jen.Code) []jen.Code {
	return []jen.Code{
		jen.If(jen.Err().Op(":=").Qual(keysPath, "Check").Call(jen.Id(raw), jen.Id("wanted")), jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())),
		jen.Return(result(holding(jen.Id(raw))), jen.Nil()),
	}
}

// numbers prints integers.
func numbers(list []int) []jen.Code {
	out := make([]jen.Code, len(list))
	for i, n := range list {
		out[i] = jen.Lit(n)
	}
	return out
}

// opened prints the opening of the package's file, for loadRaw.
func (e *emitter) opened(open, what string) *jen.Statement {
	w := jen.Qual(rtPath, open).Call(jen.Id(what))
	if e.Stored {
		return w
	}
	return e.withoutOthers(w)
}

// withoutOthers prints the weights of a file but constants, and what kernels read.
func (e *emitter) withoutOthers(w *jen.Statement) *jen.Statement {
	var others []jen.Code
	if len(e.Constants()) > 0 {
		others = append(others, jen.Lit(rt.ConstPrefix))
	}
	if e.Stored {
		others = append(others, jen.Lit(rt.PreparedPrefix))
	}
	if len(others) > 0 {
		w = w.Dot("Without").Call(others...)
	}
	return w
}

// initialWeights prints New.
func (e *emitter) initialWeights(f *jen.File) {
	var list []jen.Code
	for _, n := range e.Initial {
		init := []jen.Code{jen.Id("Kind").Op(":").Add(text(n.Init.Kind))}
		if n.Init.A != 0 {
			init = append(init, jen.Id("A").Op(":").Add(float(n.Init.A, 64)))
		}
		if n.Init.B != 0 {
			init = append(init, jen.Id("B").Op(":").Add(float(n.Init.B, 64)))
		}
		list = append(list, jen.Line().Values(
			jen.Id("Name").Op(":").Add(text(n.Name)), jen.Id("DType").Op(":").Add(text(n.DType)),
			jen.Id("Shape").Op(":").Index().Int().Values(numbers(n.Shape)...), jen.Id("Init").Op(":").Qual(rtPath, "Init").Values(init...)))
	}
	note(f, "initial says how the weights begin.")
	f.Var().Id("initial").Op("=").Index().Qual(rtPath, "Initial").Values(append(list, jen.Line())...)
	note(f, "New returns the model with its initial weights, which the seed determines: those of\none seed are the same on every machine.")
	f.Func().Id("New").Params(jen.Id("seed").Uint64()).Op("*").Id("Model").Block(
		jen.Return(jen.Id("newModel").Call(holding(e.drawn(jen.Id("seed"))))))
}

// drawn prints the initial weights of a seed.
func (e *emitter) drawn(seed jen.Code) *jen.Statement {
	given := jen.Nil()
	if e.EmbeddedFile != "" {
		given = jen.Qual(rtPath, "OpenWeights").Call(jen.Id("embedded"))
	}
	return jen.Qual(rtPath, "InitialWeights").Call(seed, jen.Id("initial"), given)
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

// stored prints the reading of prepared weights that stand beside the model's own.
func (e *emitter) stored(f *jen.File, values []jen.Code) {
	note(f, "stored returns the tensors that the kernels read in a file that has them, nil of others.")
	f.Func().Id("stored").Params(jen.Id("w").Op("*").Qual(rtPath, "Weights")).Op("*").Id("weights").Block(
		jen.Id("p").Op(":=").Op("&").Id("weights").Values(values...),
		jen.If(jen.Id("w").Dot("Err").Call().Op("!=").Nil()).Block(jen.Return(jen.Nil())),
		jen.Qual(rtPath, "Keep").Call(jen.Id("p"), jen.Id("w")),
		jen.Return(jen.Id("p")))
}

// rawLoad prints Load and Save for a file of the model's own weights.
func (e *emitter) rawLoad(f *jen.File) {
	switch {
	case e.Initial != nil:
		e.initialWeights(f)
	case e.Embed:
		note(f, "Load returns the model with the weights it was generated with.")
		f.Func().Id("Load").Params().Params(jen.Op("*").Id("Model"), jen.Error()).Block(
			jen.Return(jen.Id("loadRaw").Call(e.opened("OpenWeights", "embedded"))))
	default:
		of := "a file that was generated with it, or that\nSave wrote"
		if e.Elsewhere {
			of = "the file that it was generated with,\n" + comment(e.WeightsFile) + ", or of one that Save wrote"
		}
		note(f, "Load returns the model with the weights of "+of+", which is mapped into memory.")
		f.Func().Id("Load").Params(jen.Id("path").String()).Params(jen.Op("*").Id("Model"), jen.Error()).Block(
			jen.Return(jen.Id("loadRaw").Call(e.opened("OpenWeightsFile", "path"))))
	}
	switch {
	case e.Initial != nil:
	case e.Stored:
		note(f, "loadRaw returns the model with weights of its own file, which has what the kernels read,\ntoo, unless Save wrote it.")
		f.Func().Id("loadRaw").Params(jen.Id("own").Op("*").Qual(rtPath, "Weights")).Params(jen.Op("*").Id("Model"), jen.Error()).Block(
			jen.Id("p").Op(":=").Id("stored").Call(jen.Id("own").Dot("Fork").Call()),
			jen.Id("raw").Op(":=").Add(e.withoutOthers(jen.Id("own"))),
			jen.Id("raw").Dot("Abandon").Call(),
			jen.If(jen.Err().Op(":=").Qual(keysPath, "Check").Call(jen.Id("raw"), jen.Id("wanted")), jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())),
			jen.Id("w").Op(":=").Add(holding(jen.Id("raw"))),
			jen.Id("w").Dot("Set").Call(jen.Id("p")),
			jen.Return(jen.Id("newModel").Call(jen.Id("w")), jen.Nil()))
	default:
		note(f, "loadRaw returns the model with weights of its own file.")
		f.Func().Id("loadRaw").Params(jen.Id("raw").Op("*").Qual(rtPath, "Weights")).Params(jen.Op("*").Id("Model"), jen.Error()).Block(append([]jen.Code{
			jen.Id("raw").Dot("Abandon").Call(),
		}, lazily("raw", func(held jen.Code) jen.Code { return jen.Id("newModel").Call(held) })...)...)
	}
	note(f, "Save writes the weights to a file, under the names that the source model has: LoadFrom\nreads it.")
	f.Func().Params(jen.Id("m").Op("*").Id("Model")).Id("Save").Params(jen.Id("path").String()).Error().Block(
		loaded(),
		jen.Return(jen.Id("m").Dot("weights").Dot("Load").Call().Dot("Raw").Call().Dot("Save").Call(jen.Id("path"))))
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
