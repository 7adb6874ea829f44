package emit

import (
	"slices"
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/ir"
)

// SampleExtent is the extent that every symbol has in the bundled test.
const SampleExtent = 2

// SampleSeed is the seed of the bundled test's first input; each input after it
// has the next.
const SampleSeed = 1

// SampleRange returns the range that the bundled test draws an input from:
// numbers from low, and integers and truth values of low and the next, up to 2.
func SampleRange(d ir.DType, low int) (lo, hi int) {
	if d.IsFloat() {
		return low, low + 1
	}
	return low, 2
}

func (e *emitter) testFile() *jen.File {
	f := e.newFile()
	a := e.api
	fatal := func(err jen.Code) jen.Code { return jen.Id("t").Dot("Fatal").Call(err) }
	var body []jen.Code
	load := jen.Id("Load").Call()
	if !e.Embed {
		load = jen.Id("Load").Call(jen.Lit(e.WeightsFile))
	}
	if e.SampleTooLarge {
		note(f, "TestLoad loads the model. It does not run it: that takes more than a test should.")
		f.Func().Id("TestLoad").Params(jen.Id("t").Op("*").Qual("testing", "T")).Block(
			jen.If(jen.List(jen.Id("_"), jen.Err()).Op(":=").Add(load), jen.Err().Op("!=").Nil()).Block(fatal(jen.Err())))
		return f
	}
	body = append(body,
		jen.List(jen.Id("m"), jen.Err()).Op(":=").Add(load),
		jen.If(jen.Err().Op("!=").Nil()).Block(fatal(jen.Err())))
	symbols := func(string) (ir.Dim, bool) { return ir.Const(SampleExtent), true }
	var ins []jen.Code
	for i, p := range a.in {
		id := p.id
		switch a.form {
		case static:
			body = append(body, jen.Id(id).Op(":=").New(jen.Id(p.typ)))
		case batched:
			body = append(body, jen.Id(id).Op(":=").Make(jen.Index().Id(p.typ), jen.Lit(SampleExtent)))
		case dynamic:
			if !p.value.Type.IsTensor() {
				body = append(body, a.sampleContainer(p, e.SampleLow, SampleSeed+i)...)
				ins = append(ins, jen.Id(p.field).Op(":").Id(id))
				continue
			}
			body = append(body, jen.Id(id).Op(":=").Qual(rtPath, "Tensor").Index(p.elem()).Values(sampleFields(p.value.Type.Subst(symbols))...))
		}
		if p.value.Type.DType != ir.String {
			lo, hi := SampleRange(p.value.Type.DType, e.SampleLow)
			body = append(body, jen.Qual(rtPath, "Uniform").Call(a.flatOf(p, jen.Id(id)), jen.Lit(lo), jen.Lit(hi), jen.Lit(SampleSeed+i)))
		}
		ins = append(ins, jen.Id(p.field).Op(":").Id(id))
	}
	arg := jen.Id("Inputs").Values(ins...)
	if a.oneIn() {
		arg = jen.Id(a.in[0].id)
	}
	var shapes []jen.Code
	if len(e.Forward.Customs()) > 0 {
		shapes = e.checkShapes()
	}
	got, unchecked := jen.Id("got"), len(e.Sample)+len(shapes) == 0
	if unchecked {
		got = jen.Id("_")
	}
	call := jen.List(got, jen.Err()).Op(":=").Id("m").Dot("Forward").Call(arg)
	if e.SampleFails {
		body = append(body, jen.If(jen.List(jen.Id("_"), jen.Err()).Op(":=").Id("m").Dot("Forward").Call(arg), jen.Err().Op("==").Nil()).Block(
			jen.Id("t").Dot("Error").Call(jen.Lit("no error, although there was one when the model was generated"))))
	} else {
		if unchecked {
			body = append(body, jen.If(call, jen.Err().Op("!=").Nil()).Block(fatal(jen.Err())))
		} else {
			body = append(body, call, jen.If(jen.Err().Op("!=").Nil()).Block(fatal(jen.Err())))
		}
	}
	body = append(body, shapes...)
	for _, s := range e.Sample {
		p := a.out[s.Output]
		got := jen.Id("got")
		if !a.oneOut() {
			got = got.Dot(p.field)
		}
		sample := jen.Qual(rtPath, "Sample").Values(
			jen.Line().Id("Count").Op(":").Lit(s.Sample.Count),
			jen.Line().Id("ArgMax").Op(":").Lit(s.Sample.ArgMax),
			jen.Line().Id("Stride").Op(":").Lit(s.Sample.Stride),
			jen.Line().Id("RMS").Op(":").Add(float(s.Sample.RMS, 64)),
			jen.Line().Id("Values").Op(":").Lit(s.Sample.Values),
			jen.Line())
		body = append(body, jen.If(jen.Err().Op(":=").Qual(rtPath, "CheckSample").Call(text(p.name), a.flatOf(p, got), sample), jen.Err().Op("!=").Nil()).Block(
			jen.Id("t").Dot("Error").Call(jen.Err())))
	}
	what := "TestSample compares the model with what it computed when it was generated, in plain\nGo, for inputs of "
	if len(e.Forward.Customs()) > 0 {
		what = "TestSample runs the model, and looks at the shapes only of what the functions that it\ncalls make of inputs of "
	}
	note(f, what+strconv.Itoa(SampleExtent)+" along symbolic extents.")
	f.Func().Id("TestSample").Params(jen.Id("t").Op("*").Qual("testing", "T")).Block(body...)
	return f
}

// checkShapes prints the checks of the outputs' shapes, as far as they are known.
func (e *emitter) checkShapes() []jen.Code {
	a := e.api
	var out []jen.Code
	check := func(what string, args ...jen.Code) {
		out = append(out, jen.If(jen.Err().Op(":=").Qual(rtPath, what).Call(args...), jen.Err().Op("!=").Nil()).Block(jen.Id("t").Dot("Error").Call(jen.Err())))
	}
	for _, p := range a.out {
		got := jen.Id("got")
		if !a.oneOut() {
			got = got.Dot(p.field)
		}
		switch {
		case a.form == batched:
			check("CheckLen", jen.Lit("TestSample"), text(p.name), jen.Len(got), jen.Lit(SampleExtent))
		case a.form == dynamic && p.value.Type.IsTensor():
			want := make([]jen.Code, p.value.Type.Rank())
			for i, d := range p.value.Type.Shape {
				known := d.Subst(func(s string) (ir.Dim, bool) { return ir.Const(SampleExtent), slices.Contains(a.symbols, s) })
				if n, ok := known.Int(); ok {
					want[i] = jen.Lit(n)
				} else {
					want[i] = jen.Qual(rtPath, "AnyDim")
				}
			}
			check("CheckTensor", jen.Lit("TestSample"), text(p.name), got)
			check("CheckItem", text(p.name), got.Clone().Dot("Shape"), jen.Index().Int().Values(want...))
		}
	}
	return out
}

// SampleContainer returns the types of the tensors that the bundled test puts into
// a container: none into maps.
func SampleContainer(t ir.Type) []ir.Type {
	elem := *t.Elem
	if !elem.IsTensor() && elem.Kind != ir.MapKind {
		return SampleContainer(elem)
	}
	if elem.Kind == ir.MapKind || t.Kind == ir.MapKind {
		return nil
	}
	if elem.Shape == nil {
		elem.Shape = ir.Dims(SampleExtent)
	}
	elem = ir.TensorOf(elem.DType, slices.Clone(elem.Shape)...)
	for i, d := range elem.Shape {
		if !d.IsConst() {
			elem.Shape[i] = ir.Const(SampleExtent)
		}
	}
	if t.Kind == ir.OptionalKind {
		return []ir.Type{elem}
	}
	return []ir.Type{elem, elem}
}

// sampleFields prints the fields of a tensor of zeros, of a static type.
func sampleFields(t ir.Type) []jen.Code {
	shape, _ := t.Static()
	n := 1
	var dims []jen.Code
	for _, d := range shape {
		n *= d
		dims = append(dims, jen.Lit(d))
	}
	return []jen.Code{jen.Id("Data").Op(":").Make(jen.Index().Id(goType(t.DType)), jen.Lit(n)), jen.Id("Shape").Op(":").Index().Int().Values(dims...)}
}

// sampleContainer prints a container and the filling of its tensors.
func (a *api) sampleContainer(p port, low, seed int) []jen.Code {
	t := p.value.Type
	typ := heldType(t)
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

// flatOf prints the elements of a port's tensor held in x.
func (a *api) flatOf(p port, x *jen.Statement) *jen.Statement {
	switch a.form {
	case static:
		return jen.Qual(rtPath, "FlatOf").Index(p.elem()).Call(x)
	case batched:
		return jen.Qual(rtPath, "Flat").Index(p.elem()).Call(x)
	}
	return x.Dot("Data")
}
