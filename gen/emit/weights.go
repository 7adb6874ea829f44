package emit

import (
	"fmt"
	"maps"
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/gen/gotype"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/runtime/rt"
	"github.com/burngen/burngen/runtime/rt/keys"
)

func (e *emitter) weightsFile() *jen.File {
	f := e.newFile()
	if file := e.embeddedFile(); file != "" {
		f.Anon("embed")
		f.Comment("//go:embed " + file)
		f.Var().Id("embedded").String()
	}
	e.load(f)
	e.loadFrom(f)

	var fields, values []jen.Code
	for _, p := range e.Prepared {
		fields = append(fields, jen.Id(e.fields[p.Name]).Index().Id(gotype.Elem(p.Type.DType)).Comment(p.Type.String()))
		values = append(values, jen.Id(e.fields[p.Name]).Op(":").Add(weightsOf("w", p)))
	}
	note(f, "weights holds the tensors in the form that the kernels read.")
	f.Type().Id("weights").Struct(fields...)
	switch e.Store.Form() {
	case KeepPrepared:
		f.Add(from("loadPrepared", fill{"tensor_": fieldsOf(values), "Device_": e.instanceParam(), "device_": e.instanceArg(jen.Id(instance))}))
	case KeepBoth:
		f.Add(from("stored", fill{"tensor_": fieldsOf(values)}))
	}

	note(f, "prepare computes the tensors that the kernels read from the source model's tensors.")
	params := []jen.Code{jen.Id("raw").Op("*").Qual(rtPath, "Weights")}
	if e.preparesOnDevice() {
		params = append(e.instanceParam(), params...)
	}
	f.Func().Id("prepare").Params(params...).Params(jen.Op("*").Id("weights"), jen.Error()).Block(e.prepareBody(f)...)
	add(f, e.Printer.Funcs())
	return f
}

func (e *emitter) wantedVar(f *jen.File) {
	var list []jen.Code
	for _, w := range e.Wanted {
		fields := []jen.Code{jen.Id("Name").Op(":").Add(Text(w.Name)), jen.Id("DType").Op(":").Add(Text(w.DType)), jen.Id("Shape").Op(":").Index().Int().Values(numbers(w.Shape)...)}
		if len(w.Aliases) > 0 {
			var names []jen.Code
			for _, name := range w.Aliases {
				names = append(names, Text(name))
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
		list = append(list, jen.Values(fields...))
	}
	f.Add(from("wanted", fill{"want_": fieldsOf(list)}))
	f.Add(from("Wanted", nil))
}

func (e *emitter) loadFrom(f *jen.File) {
	own, current, missing := jen.Nil(), jen.Nil(), prose("The package has\nno weights to replace missing ones.")
	fitted := "fitted"
	fn := func(w jen.Code) *jen.Statement {
		return jen.Func().Params().Op("*").Qual(rtPath, "Weights").Block(jen.Return(w))
	}
	switch {
	case e.Store.Form().HasRaw():
		fitted = "fitted_raw"
		missing = "The package's\nown weights replace missing ones."
		current = fn(jen.Id("m").Dot("weights").Dot("Load").Call().Dot("Raw").Call())
		switch e.Store.(type) {
		case Drawn:
			missing = "The weights\nof New(0) replace missing ones."
			own = fn(e.drawn(jen.Lit(0)))
		case Embedded:
			own = fn(jen.Qual(rtPath, "OpenWeights").Call(e.embeddedData()))
		default:
			missing = "Nothing\nreplaces missing ones."
		}
	case slices.ContainsFunc(e.Wanted, func(w keys.Want) bool { return w.Optional }):
		own = fn(jen.Qual(rtPath, "OpenWeights").Call(jen.Id("embedded")))
		current = own.Clone()
	}
	device := e.instanceArg(jen.Id(instance))
	f.Add(from("LoadFrom", fill{"own_": own, "missing_": missing, "open_": e.instanceVar(jen.Id("program").Dot("With").Call()), "device_": device}))
	f.Add(from("Model.Swap", fill{"own_": current, "device_": e.instanceArg(jen.Id("m").Dot(instance))}))
	f.Add(from(fitted, fill{"Device_": e.instanceParam(), "prepare_": e.preparer()}))
	e.addOn(f)
	e.wantedVar(f)
}

func numbers(list []int) []jen.Code {
	out := make([]jen.Code, len(list))
	for i, n := range list {
		out[i] = jen.Lit(n)
	}
	return out
}

func (e *emitter) load(f *jen.File) {
	switch s := e.Store.(type) {
	case Drawn:
		e.initialWeights(f, s.Initial)
	case Embedded:
		if s.Keep == KeepPrepared {
			f.Add(from("Load_embedded", e.loading(nil)))
		} else {
			f.Add(from("Load_raw", e.loading(fill{"opened_": e.opened("OpenWeights", e.embeddedData())})))
		}
	case Beside:
		if s.Keep == KeepPrepared {
			f.Add(from("Load_file", e.loading(nil)))
		} else {
			e.loadRawFile(f, "a file that was generated with it, or that\nSave wrote")
		}
	case Existing:
		e.loadRawFile(f, "the file that it was generated with,\n"+comment(s.File)+", or of one that Save wrote")
	}
	if !e.Store.Form().HasRaw() {
		return
	}
	if _, isDrawn := e.Store.(Drawn); !isDrawn {
		if e.Store.Form() == KeepBoth {
			f.Add(from("loadRaw_stored", fill{"others_": e.others(), "Device_": e.instanceParam(), "prepare_": e.preparer(), "device_": e.instanceArg(jen.Id(instance))}))
		} else {
			f.Add(from("loadRaw", fill{"Device_": e.instanceParam(), "prepare_": e.preparer(), "device_": e.instanceArg(jen.Id(instance))}))
		}
	}
	f.Add(from("Model.Save", nil))
}

func (e *emitter) loadRawFile(f *jen.File, file string) {
	f.Add(from("Load_rawFile", e.loading(fill{"file_": prose(file), "opened_": e.opened("OpenWeightsFile", jen.Id("path"))})))
}

func (e *emitter) loading(values fill) fill {
	out := fill{"opens_": e.opens(), "Option_": e.deviceOptions(), "open_": e.openInstance(), "device_": e.instanceArg(jen.Id(instance))}
	maps.Copy(out, values)
	return out
}

// opened prints an expression that opens the weights file of the generated package: a call of `open`, a function of
// package rt. The file may have tensors that are not weights of the source model. If the form of the weights is
// [KeepRaw], the printed code hides these tensors from the reader of the file.
func (e *emitter) opened(open string, file *jen.Statement) *jen.Statement {
	w := jen.Qual(rtPath, open).Call(file)
	if others := e.others(); len(others) > 0 && e.Store.Form() == KeepRaw {
		w = w.Dot("Without").Call(others...)
	}
	return w
}

func (e *emitter) others() []jen.Code {
	var others []jen.Code
	keep, hasConstants := e.Store.Form(), len(e.Constants()) > 0
	if e.Shared != nil {
		keep, hasConstants = e.Shared.Keep, e.Shared.Keep.HasPrepared()
	}
	if hasConstants {
		others = append(others, jen.Lit(rt.ConstPrefix))
	}
	if keep.HasPrepared() {
		others = append(others, jen.Lit(rt.PreparedPrefix))
	}
	return others
}

func (e *emitter) initialWeights(f *jen.File, initial []rt.Initial) {
	var list []jen.Code
	for _, n := range initial {
		init := []jen.Code{jen.Id("Kind").Op(":").Add(Text(n.Init.Kind))}
		if n.Init.A != 0 {
			init = append(init, jen.Id("A").Op(":").Add(Float(n.Init.A, 64)))
		}
		if n.Init.B != 0 {
			init = append(init, jen.Id("B").Op(":").Add(Float(n.Init.B, 64)))
		}
		list = append(list, jen.Values(
			jen.Id("Name").Op(":").Add(Text(n.Name)), jen.Id("DType").Op(":").Add(Text(n.DType)),
			jen.Id("Shape").Op(":").Index().Int().Values(numbers(n.Shape)...), jen.Id("Init").Op(":").Qual(rtPath, "Init").Values(init...)))
	}
	f.Add(from("initial", fill{"begins_": fieldsOf(list)}))
	f.Add(from("New", fill{"given_": e.given(), "open_": e.instanceVar(jen.Id("program").Dot("With").Call()), "prepare_": e.preparer(), "device_": e.instanceArg(jen.Id(instance))}))
}

// given prints the argument `given` of [rt.InitialWeights]: a call that opens the embedded file, or the
// word nil if the package embeds no file.
func (e *emitter) given() *jen.Statement {
	if e.embeddedFile() == "" {
		return jen.Nil()
	}
	return jen.Qual(rtPath, "OpenWeights").Call(jen.Id("embedded"))
}

func (e *emitter) drawn(seed jen.Code) *jen.Statement {
	return jen.Qual(rtPath, "InitialWeights").Call(seed, jen.Id("initial"), e.given())
}

func weightsOf(variable string, p Prepared) *jen.Statement {
	args := []jen.Code{jen.Id(variable), Text(p.Name)}
	shape, _ := p.Type.Static()
	for _, n := range shape {
		args = append(args, jen.Lit(n))
	}
	return jen.Qual(rtPath, "WeightsOf").Index(jen.Id(gotype.Elem(p.Type.DType))).Call(args...)
}

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
			values = append(values, field.Qual(rtPath, "Make").Index(jen.Id(gotype.Elem(p.Type.DType))).Call(jen.Lit(n)))
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
	last := []jen.Code{jen.Id("p"), jen.Nil()}
	if e.hasDevice() && len(fn.Steps) > 0 {
		body = append(body, e.prepareOnDevice(arena > 0)...)
		params, args = append(params, jen.Id(runField).Op("*").Qual(gpuPath, "Run")), append(args, jen.Id(runField))
		last = []jen.Code{jen.Id("p"), jen.Id(runField).Dot("Close").Call()}
	}
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
		note(f, name+" computes some of the tensors of p.")
		f.Func().Id(name).Params(params...).Error().Block(append(part, jen.Return(jen.Nil()))...)
		body = append(body, jen.If(jen.Err().Op(":=").Id(name).Call(args...), jen.Err().Op("!=").Nil()).Block(jen.Return(jen.Nil(), jen.Err())))
	}
	return append(body, jen.Return(last...))
}
