package cpu

import (
	"github.com/dave/jennifer/jen"
)

func (p *printing) chain(chain *Chain) string {
	var body []jen.Code
	used := map[int]bool{}
	for _, call := range chain.Body {
		args := make([]jen.Code, len(call.Args))
		for i, a := range call.Args {
			t, ok := a.(Tile)
			switch {
			case !ok:
				args[i] = p.arg(a)
			case t.Index == 0:
				args[i] = jen.Id("t")
			default:
				used[t.Index] = true
				args[i] = jen.Id("in").Index(jen.Lit(t.Index-1)).Index(jen.Id("at"), jen.Id("at").Op("+").Len(jen.Id("t")))
			}
		}
		body = append(body, goFunc(call.Kernel).Call(args...))
	}
	key := jen.Block(body...).GoString()
	if name, ok := p.chains[key]; ok {
		return name
	}
	var label string
	for _, call := range chain.Body {
		label += call.Kernel.Name
	}
	name := p.Name(label)
	p.chains[key] = name
	at, in := "at", "in"
	if len(used) == 0 {
		at, in = "_", "_"
	}
	p.funcs = append(p.funcs,
		jen.Line(),
		jen.Comment(name+" continues a kernel on a run of its result that is still in a near cache."),
		jen.Func().Id(name).Params(jen.Id("t").Index().Float32(), jen.Id(at).Int(), jen.Id(in).Op("*").Index(jen.Lit(2)).Index().Float32()).Block(body...))
	return name
}
