package emit

import (
	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/runtime/rt"
)

// servedName is the method that describes a model to a server.
const servedName = "Served"

// Served returns the methods that the file serve.go of the package lists. It returns an error if the model cannot be
// printed.
func Served(m *Model) (list []rt.ServedMethod, err error) {
	err = ir.Try(func() { list = newEmitter(m).served() })
	return list, err
}

func (e *emitter) served() []rt.ServedMethod {
	var list []rt.ServedMethod
	for _, m := range e.session.methods {
		if m.spec.Method == servedName {
			ir.Fail("-serve: the model has a method %s, which is the name of the method for servers", servedName)
		}
		s := rt.ServedMethod{Name: m.spec.Method, Inputs: ports(m.in), Outputs: ports(m.out), Stateful: len(m.states()) > 0}
		if !s.Stateful {
			s.Batch = batchOf(seen(m.in), seen(m.out))
		}
		list = append(list, s)
	}
	return list
}

func (e *emitter) serveFile() *jen.File {
	if !e.Serve && !e.Web {
		return nil
	}
	var methods []jen.Code
	for _, m := range e.served() {
		fields := []jen.Code{
			jen.Id("Name").Op(":").Lit(m.Name),
			jen.Id("Inputs").Op(":").Add(portList(m.Inputs)),
			jen.Id("Outputs").Op(":").Add(portList(m.Outputs)),
		}
		if m.Batch != "" {
			fields = append(fields, jen.Id("Batch").Op(":").Lit(m.Batch))
		}
		if m.Stateful {
			fields = append(fields, jen.Id("Stateful").Op(":").True())
		}
		methods = append(methods, jen.Values(fieldsOf(fields)...))
	}
	parts := []jen.Code{
		jen.Id("Name").Op(":").Add(Text(e.Title)),
		jen.Id("Methods").Op(":").Index().Qual(rtPath, "ServedMethod").Values(fieldsOf(methods)...),
		jen.Id("Open").Op(":").Func().Params().Params(jen.Any(), jen.Error()).Block(jen.Return(jen.Id("m").Dot("NewSession").Call(jen.Nil()))),
	}
	if !e.Web {
		parts = append(parts, jen.Id("Swap").Op(":").Func().Params(jen.Id("raw").Op("*").Qual(rtPath, "Weights")).Error().Block(jen.Return(jen.Id("m").Dot("Swap").Call(jen.Id("raw")))))
	}
	f := e.newFile()
	f.Comment(lines(servedName + " describes the model to a server. The module runtime/serve of burngen has one."))
	f.Func().Params(jen.Id("m").Op("*").Id("Model")).Id(servedName).Params().Qual(rtPath, "Served").Block(
		jen.Return(jen.Qual(rtPath, "Served").Values(fieldsOf(parts)...)))
	return f
}

func ports(list []port) []rt.Port {
	var out []rt.Port
	for _, p := range seen(list) {
		t := p.value.Type
		q := rt.Port{Name: p.name, DType: t.DType.String()}
		if !t.IsTensor() {
			q.DType = t.String()
		}
		for _, d := range t.Shape {
			q.Shape = append(q.Shape, d.String())
		}
		out = append(out, q)
	}
	return out
}

// batchOf returns the symbol that is the first extent of all inputs and outputs. It returns "" if there
// is no such symbol, or if it occurs in another extent.
func batchOf(in, out []port) string {
	batch := ""
	for i, p := range append(append([]port{}, in...), out...) {
		t := p.value.Type
		if !t.IsTensor() || t.Rank() == 0 || len(t.Shape[0].Symbols()) != 1 {
			return ""
		}
		s := t.Shape[0].Symbols()[0]
		if i == 0 {
			batch = s
		}
		if s != batch || !t.Shape[0].Equal(dim.Sym(s)) {
			return ""
		}
		for _, d := range t.Shape[1:] {
			for _, other := range d.Symbols() {
				if other == batch {
					return ""
				}
			}
		}
	}
	if len(in) == 0 || len(out) == 0 {
		return ""
	}
	return batch
}
