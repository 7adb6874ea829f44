package emit

import (
	"slices"
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/gen/gotype"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// SampleExtent is the value of every symbol in the bundled test.
const SampleExtent = 2

// SampleSeed is the seed of the first argument in the bundled test. The seed of each further
// argument is one greater.
const SampleSeed = 1

// SampleRange returns the range of the random elements of an argument in the bundled test. low is
// the smallest allowed element. Floats are in [lo, hi] = [low, low+1]. Integers and booleans are in
// [lo, hi) = [low, 2).
func SampleRange(d ir.DType, low int) (lo, hi int) {
	if d.IsFloat() {
		return low, low + 1
	}
	return low, 2
}

func (e *emitter) testFile() *jen.File {
	f := e.newFile()
	load := jen.List(jen.Id("Load").Call())
	var skip []jen.Code
	switch s := e.Store.(type) {
	case Drawn:
		load = jen.List(jen.Id("New").Call(jen.Lit(SampleSeed)), jen.Error().Call(jen.Nil()))
		if e.hasDevice() {
			load = jen.Id("New").Call(jen.Lit(SampleSeed)).Dot("On").Call()
		}
	case Beside:
		load = jen.Id("Load").Call(jen.Lit(e.besideFile(s)))
	case Existing:
		load = jen.Id("Load").Call(jen.Lit(s.File))
		skip = []jen.Code{jen.If(jen.Err().Op(":=").Qual(rtPath, "OpenWeightsFile").Call(jen.Lit(s.File)).Dot("Err").Call(), jen.Err().Op("!=").Nil()).Block(jen.Id("t").Dot("Skip").Call(jen.Err()))}
	}
	loads := false
	for i, m := range e.session.methods {
		if m.spec.SampleTooLarge {
			loads = true
			continue
		}
		name := "TestSample"
		if i > 0 {
			name = e.global.unique(name + m.spec.Method)
		}
		m.sampleTest(f, name, skip, e.loaded(jen.Id("m"), load))
	}
	if loads {
		note(f, "TestLoad loads the model. It does not run it, which would take too long for a test.")
		f.Func().Id("TestLoad").Params(jen.Id("t").Op("*").Qual("testing", "T")).Block(append(skip, e.loaded(jen.Id("_"), load)...)...)
	}
	return f
}

// loaded prints the statements of a test that assign a model to the variable `m`. The expression `load` computes
// the model. The test is skipped on a machine without the device.
func (e *emitter) loaded(m, load jen.Code) []jen.Code {
	failed := jen.If(jen.Err().Op("!=").Nil()).Block(fatal(jen.Err()))
	if !e.hasDevice() {
		return []jen.Code{jen.List(m, jen.Err()).Op(":=").Add(load), failed}
	}
	missing := jen.Qual("errors", "Is").Call(jen.Err(), jen.Qual(gpuPath, "ErrNoDevice"))
	return []jen.Code{jen.List(m, jen.Err()).Op(":=").Add(load), jen.If(missing).Block(jen.Id("t").Dot("Skip").Call(jen.Err())), failed}
}

func fatal(err jen.Code) jen.Code { return jen.Id("t").Dot("Fatal").Call(err) }

func (a *method) sampleTest(f *jen.File, name string, skip, load []jen.Code) {
	low := a.spec.SampleLow
	body := slices.Concat(skip, load)
	symbols := func(string) (dim.Dim, bool) { return dim.Const(SampleExtent), true }
	var args, ins []jen.Code
	for i, p := range seen(a.in) {
		id := p.id
		switch {
		case p.form == static:
			body = append(body, jen.Id(id).Op(":=").New(p.item()))
		case p.form == scalar:
			body = append(body, jen.Var().Id(id).Add(p.elem()))
		case p.form == batched:
			body = append(body, jen.Id(id).Op(":=").Make(a.argument(p), jen.Lit(SampleExtent)))
		case !p.value.Type.IsTensor():
			body = append(body, a.sampleContainer(p, low, SampleSeed+i)...)
		default:
			body = append(body, jen.Id(id).Op(":=").Qual(rtPath, "Tensor").Index(p.elem()).Values(sampleFields(p.value.Type.Subst(symbols))...))
		}
		if p.value.Type.IsTensor() && p.value.Type.DType != ir.String {
			lo, hi := SampleRange(p.value.Type.DType, low)
			body = append(body, jen.Qual(rtPath, "Uniform").Call(a.flatOf(p, jen.Id(id)), jen.Lit(lo), jen.Lit(hi), jen.Lit(SampleSeed+i)))
		}
		args, ins = append(args, jen.Id(id)), append(ins, jen.Id(p.field).Op(":").Id(id))
	}
	if a.inStruct() {
		args = []jen.Code{jen.Id(a.spec.Inputs).Values(ins...)}
	}
	var shapes []jen.Code
	if len(a.spec.Customs()) > 0 {
		shapes = a.checkShapes()
	}
	got, unchecked := jen.Id("got"), len(a.spec.Sample)+len(shapes) == 0
	if unchecked {
		got = jen.Id("_")
	}
	run := jen.Id("m").Dot(a.spec.Method).Call(args...)
	call := jen.List(got, jen.Err()).Op(":=").Add(run)
	switch {
	case a.spec.SampleFails:
		body = append(body, jen.If(jen.List(jen.Id("_"), jen.Err()).Op(":=").Add(run), jen.Err().Op("==").Nil()).Block(
			jen.Id("t").Dot("Error").Call(jen.Lit("no error, although there was one when the model was generated"))))
	case unchecked:
		body = append(body, jen.If(call, jen.Err().Op("!=").Nil()).Block(fatal(jen.Err())))
	default:
		body = append(body, call, jen.If(jen.Err().Op("!=").Nil()).Block(fatal(jen.Err())))
	}
	body = append(body, shapes...)
	for _, s := range a.spec.Sample {
		p := a.out[s.Output]
		fields := []jen.Code{
			jen.Line().Id("Count").Op(":").Lit(s.Sample.Count),
			jen.Line().Id("ArgMax").Op(":").Lit(s.Sample.ArgMax),
			jen.Line().Id("Stride").Op(":").Lit(s.Sample.Stride),
			jen.Line().Id("RMS").Op(":").Add(Float(s.Sample.RMS, 64)),
			jen.Line().Id("Values").Op(":").Lit(s.Sample.Values),
		}
		if s.Sample.Rounding > 0 {
			fields = append(fields, jen.Line().Id("Rounding").Op(":").Add(Float(s.Sample.Rounding, 64)))
		}
		sample := jen.Qual(rtPath, "Sample").Values(append(fields, jen.Line())...)
		body = append(body, jen.If(jen.Err().Op(":=").Qual(rtPath, "CheckSample").Call(Text(p.name), a.flatOf(p, a.got(p)), sample), jen.Err().Op("!=").Nil()).Block(
			jen.Id("t").Dot("Error").Call(jen.Err())))
	}
	what := name + " compares the model with what it computed when it was generated, in plain\nGo, for inputs of "
	if len(a.spec.Customs()) > 0 {
		what = name + " runs the model, and looks at the shapes only of what the functions that it\ncalls make of inputs of "
	}
	what += strconv.Itoa(SampleExtent) + " along symbolic extents."
	if a.spec.SampleUnsteady {
		what += " Results that\ndepend on how sums are rounded for these are not compared."
	}
	note(f, what)
	f.Func().Id(name).Params(jen.Id("t").Op("*").Qual("testing", "T")).Block(body...)
}

func (a *api) got(p port) *jen.Statement {
	if a.outStruct() {
		return jen.Id("got").Dot(p.field)
	}
	return jen.Id("got")
}

func (a *api) checkShapes() []jen.Code {
	var out []jen.Code
	check := func(what string, args ...jen.Code) {
		out = append(out, jen.If(jen.Err().Op(":=").Qual(rtPath, what).Call(args...), jen.Err().Op("!=").Nil()).Block(jen.Id("t").Dot("Error").Call(jen.Err())))
	}
	for _, p := range seen(a.out) {
		got := a.got(p)
		switch {
		case p.form == batched:
			check("CheckLen", jen.Lit("TestSample"), Text(p.name), jen.Len(got), jen.Lit(SampleExtent))
		case p.form == dynamic && p.value.Type.IsTensor():
			want := make([]jen.Code, p.value.Type.Rank())
			for i, d := range p.value.Type.Shape {
				known := d.Subst(func(s string) (dim.Dim, bool) { return dim.Const(SampleExtent), slices.Contains(a.symbols, s) })
				if n, ok := known.Int(); ok {
					want[i] = jen.Lit(n)
				} else {
					want[i] = jen.Qual(rtPath, "AnyDim")
				}
			}
			check("CheckTensor", jen.Lit("TestSample"), Text(p.name), got)
			check("CheckItem", Text(p.name), got.Clone().Dot("Shape"), jen.Index().Int().Values(want...))
		}
	}
	return out
}

// SampleContainer returns the types of the tensors that the bundled test puts into a container of
// type t. It returns nil for a map and for a container of maps, which stay empty.
func SampleContainer(t ir.Type) []ir.Type {
	elem := *t.Elem
	if !elem.IsTensor() && elem.Kind != ir.MapKind {
		return SampleContainer(elem)
	}
	if elem.Kind == ir.MapKind || t.Kind == ir.MapKind {
		return nil
	}
	if elem.Shape == nil {
		elem.Shape = dim.Consts(SampleExtent)
	}
	elem = ir.TensorOf(elem.DType, slices.Clone(elem.Shape)...)
	for i, d := range elem.Shape {
		if !d.IsConst() {
			elem.Shape[i] = dim.Const(SampleExtent)
		}
	}
	if t.Kind == ir.OptionalKind {
		return []ir.Type{elem}
	}
	return []ir.Type{elem, elem}
}

func sampleFields(t ir.Type) []jen.Code {
	shape, _ := t.Static()
	n := 1
	var dims []jen.Code
	for _, d := range shape {
		n *= d
		dims = append(dims, jen.Lit(d))
	}
	return []jen.Code{jen.Id("Data").Op(":").Make(jen.Index().Id(gotype.Elem(t.DType)), jen.Lit(n)), jen.Id("Shape").Op(":").Index().Int().Values(dims...)}
}

func (a *api) sampleContainer(p port, low, seed int) []jen.Code {
	t := p.value.Type
	typ := gotype.Of(t)
	open := typ
	if t.Kind == ir.OptionalKind {
		open = "&" + typ[1:]
	}
	var items, fill []jen.Code
	list := SampleContainer(t)
	for i, elem := range list {
		fields := sampleFields(elem)
		x := jen.Id(p.id)
		switch {
		case t.Kind == ir.OptionalKind && t.Elem.IsTensor():
			items = append(items, fields...)
		case t.Kind == ir.OptionalKind:
			items, x = append(items, jen.Values(fields...)), jen.Parens(jen.Op("*").Add(x)).Index(jen.Lit(i))
		default:
			items, x = append(items, jen.Values(fields...)), x.Index(jen.Lit(i))
		}
		if elem.DType != ir.String {
			lo, hi := SampleRange(elem.DType, low)
			fill = append(fill, jen.Qual(rtPath, "Uniform").Call(x.Dot("Data"), jen.Lit(lo), jen.Lit(hi), jen.Lit(seed)))
		}
	}
	return append([]jen.Code{jen.Id(p.id).Op(":=").Id(open).Values(items...)}, fill...)
}

func (a *api) flatOf(p port, x *jen.Statement) *jen.Statement {
	switch p.form {
	case static:
		return jen.Qual(rtPath, "FlatOf").Index(p.elem()).Call(x)
	case batched:
		return jen.Qual(rtPath, "Flat").Index(p.elem()).Call(x)
	case scalar:
		return jen.Qual(rtPath, "FlatOf").Index(p.elem()).Call(jen.Op("&").Add(x))
	}
	return x.Dot("Data")
}
