package emit

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/runtime/rt"
)

func (e *emitter) metaVar(f *jen.File) {
	var opsets []jen.Code
	for _, o := range e.Meta.Opsets {
		opsets = append(opsets, jen.Values(jen.Id("Domain").Op(":").Add(Text(o.Domain)), jen.Id("Version").Op(":").Lit(o.Version)))
	}
	fields := []jen.Code{
		jen.Line().Id("Name").Op(":").Add(Text(e.Meta.Name)),
		jen.Line().Id("Source").Op(":").Add(Text(e.Meta.Source)),
		jen.Line().Id("Opsets").Op(":").Index().Qual(rtPath, "Opset").Values(opsets...),
		jen.Line().Id("Inputs").Op(":").Add(portList(e.Meta.Inputs)),
		jen.Line().Id("Outputs").Op(":").Add(portList(e.Meta.Outputs)),
	}
	if len(e.Meta.States) > 0 {
		fields = append(fields, jen.Line().Id("States").Op(":").Add(portList(e.Meta.States)))
	}
	if len(e.Meta.Metadata) > 0 {
		var keys []string
		for k := range e.Meta.Metadata {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		var values []jen.Code
		for _, k := range keys {
			values = append(values, jen.Line().Add(Text(k)).Op(":").Add(Text(e.Meta.Metadata[k])))
		}
		fields = append(fields, jen.Line().Id("Metadata").Op(":").Map(jen.String()).String().Values(append(values, jen.Line())...))
	}
	f.Var().Id("meta").Op("=").Qual(rtPath, "Meta").Values(append(fields, jen.Line())...)
}

func portList(list []rt.Port) *jen.Statement {
	var values []jen.Code
	for _, p := range list {
		var shape []jen.Code
		for _, d := range p.Shape {
			shape = append(shape, Text(d))
		}
		values = append(values, jen.Values(jen.Id("Name").Op(":").Add(Text(p.Name)), jen.Id("DType").Op(":").Add(Text(p.DType)), jen.Id("Shape").Op(":").Index().String().Values(shape...)))
	}
	return jen.Index().Qual(rtPath, "Port").Values(values...)
}
