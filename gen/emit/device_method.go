package emit

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/plan"
)

func (e *emitter) deviceMethods(f *jen.File) {
	if !e.hasDevice() {
		return
	}
	note(f, "Device returns the device of the model, for [gpu.NewTensor].")
	f.Func().Params(jen.Id("m").Op("*").Id("Model")).Id("Device").Params().Op("*").Qual(gpuPath, "Instance").Block(
		jen.If(jen.Id("m").Op("==").Nil()).Block(jen.Return(jen.Nil())),
		jen.Return(jen.Id("m").Dot(instance)))
	for _, m := range e.session.methods {
		if m.takesTensors() {
			m.deviceMethod(f)
		}
	}
}

// takesTensors reports whether every argument and result can be a tensor in device memory. Strings and containers
// cannot be in device memory. Results whose shapes are known only while the model runs cannot, and scalar fields of
// the struct of results cannot.
func (a *api) takesTensors() bool {
	for _, p := range slices.Concat(seen(a.in), seen(a.out)) {
		t := p.value.Type
		if !t.IsTensor() || t.DType == ir.String || plan.IsHeld(t) || a.late(p) {
			return false
		}
		if p.kind == "output" && p.form == scalar && a.outStruct() {
			return false
		}
	}
	return true
}

func (p port) onDevice() *jen.Statement {
	if p.form == scalar && p.kind == "input" {
		return p.elem()
	}
	return jen.Op("*").Qual(gpuPath, "Tensor").Index(p.elem())
}

func (m *method) deviceMethod(f *jen.File) {
	in, out := seen(m.in), seen(m.out)
	locals := newNames("s", "views", "results", "dst", "in", "err")
	var params []jen.Code
	if m.inStruct() {
		params = []jen.Code{jen.Id("in").Id(m.deviceStruct(f, m.spec.Inputs, "arguments", in))}
	} else {
		for _, p := range in {
			locals.take(p.id)
			params = append(params, jen.Id(p.id).Add(p.onDevice()))
		}
	}
	var views, args, checks []jen.Code
	view := func(p port, given *jen.Statement, access, said string) jen.Code {
		if p.form == scalar && p.kind == "input" {
			return given
		}
		local := locals.unique(p.id + "View")
		views = append(views, jen.Id(local).Op(":=").Add(m.view(p, given, access, said)))
		if p.form == dynamic && p.kind == "output" {
			result := jen.Id(local)
			if m.outStruct() {
				result = jen.Id("results").Dot(p.field)
			}
			checks = append(checks, jen.Qual(gpuPath, "CheckShape").Call(jen.Op("&").Id("views"), Text(said), given, result.Dot("Shape")))
		}
		return jen.Id(local)
	}
	var results []jen.Code
	target, dst := jen.Code(nil), jen.Code(nil)
	for _, p := range out {
		if m.outStruct() {
			results = append(results, jen.Id(p.field).Op(":").Add(view(p, jen.Id("dst").Dot(p.field), "Write", p.said)))
			continue
		}
		target, dst = view(p, jen.Id("dst"), "Write", "dst"), p.onDevice()
		if p.form == dynamic {
			target = jen.Op("&").Add(target)
		}
	}
	if m.outStruct() {
		dst = jen.Id(m.deviceStruct(f, m.result, "results", out))
		views = append(views, jen.Id("results").Op(":=").Id(m.result).Values(results...))
		if target = jen.Id("results"); m.isPointer() {
			target = jen.Op("&").Add(target)
		}
	}
	for _, p := range in {
		x := view(p, m.given(p), "Read", p.said)
		if m.inStruct() {
			x = jen.Id(p.field).Op(":").Add(x)
		}
		args = append(args, x)
	}
	if m.inStruct() {
		args = []jen.Code{jen.Id(m.spec.Inputs).Values(args...)}
	}
	id := m.spec.Method + "Device"
	body := []jen.Code{
		jen.If(m.host.self().Op("==").Nil()).Block(jen.Return(jen.Qual(rtPath, "ErrNoSession"))),
		jen.Id("views").Op(":=").Qual(gpuPath, "ViewsOn").Call(jen.Op("&").Add(m.host.self()).Dot(runField), jen.Lit(m.where+"Device")),
		jen.Defer().Id("views").Dot("Done").Call(),
	}
	body = append(body, views...)
	body = append(body, checked(jen.Id("views").Dot("Err").Call()))
	call := m.host.self().Dot(m.spec.Method).Call(append([]jen.Code{target}, args...)...)
	if len(checks) == 0 {
		body = append(body, jen.Return(call))
	} else {
		body = append(append(body, checked(call)), checks...)
		body = append(body, jen.Return(jen.Id("views").Dot("Err").Call()))
	}
	note(f, id+" is like "+m.spec.Method+" for tensors in the memory of the model's device, which it does\nnot copy. dst has the shape of the result.")
	f.Func().Params(m.host.self().Op("*").Id(m.host.typ)).Id(id).Params(append([]jen.Code{jen.Id("dst").Add(dst)}, params...)...).Error().Block(body...)
}

func (m *method) deviceStruct(f *jen.File, host, contents string, ports []port) string {
	name := m.fn.global.unique("Device" + host)
	fields := make([]jen.Code, len(ports))
	for i, p := range ports {
		fields[i] = jen.Id(p.field).Add(p.onDevice())
	}
	note(f, name+" holds the "+contents+" of "+m.spec.Method+"Device.")
	f.Type().Id(name).Struct(fields...)
	return name
}

func (a *api) view(p port, given *jen.Statement, access, label string) *jen.Statement {
	args := []jen.Code{jen.Op("&").Id("views"), jen.Qual(gpuPath, access), Text(label), given}
	extents := func(from int) []jen.Code {
		var out []jen.Code
		for _, d := range p.value.Type.Shape[from:] {
			n, _ := d.Int()
			out = append(out, jen.Lit(n))
		}
		return out
	}
	switch p.form {
	case batched:
		return jen.Qual(gpuPath, "Items").Index(p.item()).Call(append(args, extents(1)...)...)
	case dynamic:
		return jen.Qual(rtPath, "Tensor").Index(p.elem()).Values(
			jen.Id("Data").Op(":").Qual(gpuPath, "Elems").Call(args...), jen.Id("Shape").Op(":").Add(given.Clone()).Dot("Shape").Call())
	}
	return jen.Qual(gpuPath, "Array").Index(p.item()).Call(append(args, extents(0)...)...)
}
