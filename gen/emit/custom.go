package emit

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/gen/gotype"
	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// customPackages returns the import paths of the custom operators that the functions of a model
// call, in the order of their first calls. aliases maps each path to the name of its package in the
// generated code.
func customPackages(m *Model, global *names) (paths []string, aliases map[string]string) {
	aliases = map[string]string{}
	for _, f := range m.Functions {
		for _, c := range f.Customs() {
			p, _ := c.Op.Package()
			if aliases[p] == "" {
				paths = append(paths, p)
				aliases[p] = global.unique(ir.Unexported(packageName(p)))
			}
		}
	}
	return paths, aliases
}

func packageName(p string) string {
	base := path.Base(p)
	if len(base) > 1 && base[0] == 'v' && strings.Trim(base[1:], "0123456789") == "" && path.Dir(p) != "." {
		return path.Base(path.Dir(p))
	}
	return base
}

func (f *function) customCalls() []*program.Custom {
	var out []*program.Custom
	for _, s := range f.Steps {
		if c, ok := s.(*program.Custom); ok {
			out = append(out, c)
		}
	}
	return out
}

func (f *function) custom(s *program.Custom, v *views) []jen.Code {
	var out []jen.Code
	call := f.host.self().Dot(f.customs[s])
	pass := func(how string, i int, memory *jen.Statement, shape []jen.Code) {
		args := append([]jen.Code{call.Clone(), jen.Lit(i), memory}, shape...)
		out = append(out, jen.Qual(rtPath, how).Call(args...))
	}
	for i, ref := range s.Args {
		pass("CallIn", i, f.slice(ref, v), f.ints(ref.Value.Type.Shape))
	}
	for i, ref := range s.Results {
		if ref.Boxed() {
			pass("CallOpen", i, jen.Op("&").Add(f.host.self()).Dot(f.held[ref.Variable()]), f.openShape(s, ref.Value.Type.Shape))
		} else {
			pass("CallOut", i, f.slice(ref, v), f.ints(ref.Value.Type.Shape))
		}
	}
	run := call.Clone().Dot("Run").Call(jen.Qual(s.Op.Package()))
	out = append(out, returnAt(s.Node, run))
	return append(out, f.extents(s.Node, s.Extents)...)
}

// openShape prints dims, the extents of a result. It prints rt.Sym(k) for an extent that the called function
// determines; k is the index of the extent's symbol.
func (f *function) openShape(s *program.Custom, dims []dim.Dim) []jen.Code {
	own := s.Op.Binds()
	out := make([]jen.Code, len(dims))
	for i, d := range dims {
		if k := slices.Index(own, d.String()); k >= 0 {
			out[i] = jen.Qual(rtPath, "Sym").Call(jen.Lit(k))
		} else {
			out[i] = f.int(d)
		}
	}
	return out
}

func newCall(s *program.Custom) *jen.Statement {
	symbols := jen.Nil()
	if list := s.Op.Symbols(); len(list) > 0 {
		var texts []jen.Code
		for _, symbol := range list {
			texts = append(texts, jen.Lit(symbol))
		}
		symbols = jen.Index().String().Values(texts...)
	}
	args := []jen.Code{Text(s.Op.Name), jen.Lit(len(s.Args)), jen.Lit(len(s.Results)), symbols}
	for _, a := range s.Op.Attrs {
		args = append(args, jen.Line().Qual(rtPath, "Attr").Values(jen.Id("Name").Op(":").Add(Text(a.Name)), jen.Id("Value").Op(":").Add(attribute(a.Value))))
	}
	return jen.Qual(rtPath, "NewCall").Call(args...)
}

func attribute(t *ir.Tensor) *jen.Statement {
	items := make([]jen.Code, t.Len())
	for i := range items {
		switch t.DType {
		case ir.String:
			items[i] = Text(t.Text(i))
		case ir.F32:
			items[i] = Float(t.Float(i), 32)
		default:
			items[i] = jen.Id(fmt.Sprint(t.Int(i)))
		}
	}
	typ := jen.Id(gotype.Elem(t.DType))
	switch {
	case len(t.Shape) > 0:
	case t.DType == ir.String:
		return Text(t.Text(0))
	default:
		return typ.Call(items...)
	}
	return jen.Index().Add(typ).Values(items...)
}
