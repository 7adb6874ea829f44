package emit

import (
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/ir"
)

// loop prints a pointwise region: one call when that is all there is, else loops
// over the outer dimensions and over runs of the inner one.
func (f *function) loop(l *program.Loop, v *views) []jen.Code {
	p := &loopPrinter{function: f, l: l, v: v}
	n, static := l.Inner.Int()
	p.single = static && n <= l.Tile || l.Direct()
	var body []jen.Code
	for i, o := range l.Operands {
		if o.Period > 0 {
			body = append(body, p.repeat(i, o))
		}
	}
	body = append(body, p.runs()...)
	for i := len(l.Outer) - 1; i >= 0; i-- {
		body = []jen.Code{jen.For(jen.Id(loopVar(i)).Op(":=").Range().Add(f.int(l.Outer[i]))).Block(body...)}
	}
	if len(l.Outer) == 0 && !l.Direct() {
		return []jen.Code{jen.Block(body...)}
	}
	return body
}

type loopPrinter struct {
	*function
	l      *program.Loop
	v      *views
	single bool // one run covers the inner dimension
}

// loopVar returns the variable of the loop over an outer dimension: from the fifth on
// one that no text of a model becomes.
func loopVar(i int) string {
	if letters := "ijkl"; i < len(letters) {
		return letters[i : i+1]
	}
	return "i_" + strconv.Itoa(i)
}

// start prints the first element of the current run of an operand or result,
// without the place in the inner dimension.
func (p *loopPrinter) start(strides []ir.Dim) *jen.Statement {
	out := jen.Empty()
	for i, s := range strides {
		if s.Equal(ir.Dim{}) {
			continue
		}
		if len(*out) > 1 || i > 0 && len(*out) > 0 {
			out = out.Op("+")
		}
		out = out.Id(loopVar(i))
		if !s.Equal(ir.Const(1)) {
			out = out.Op("*").Add(p.expr(s).factor())
		}
	}
	return out
}

func (p *loopPrinter) resultStrides() []ir.Dim {
	strides := make([]ir.Dim, len(p.l.Outer))
	at := p.l.Inner
	for i := len(strides) - 1; i >= 0; i-- {
		strides[i] = at
		at = at.Mul(p.l.Outer[i])
	}
	return strides
}

// repeat prints the filling of a run with an operand's repeated elements.
func (p *loopPrinter) repeat(i int, o program.LoopOperand) jen.Code {
	tile := p.slice(o.Tile, p.v)
	if n, ok := p.l.Inner.Int(); ok && n < p.l.Tile {
		tile = tile.Index(jen.Empty(), jen.Id(strconv.Itoa(n)))
	}
	src := p.slice(o.Ref, p.v)
	at := p.start(o.Strides)
	if len(*at) == 0 || isEmpty(at) {
		if n, ok := o.Ref.Len.Int(); !ok || n != o.Period {
			src = src.Index(jen.Empty(), jen.Id(strconv.Itoa(o.Period)))
		}
	} else {
		src = src.Index(at, at.Clone().Op("+").Id(strconv.Itoa(o.Period)))
	}
	return jen.Qual(cpuPath, "Repeat").Call(tile, src)
}

func isEmpty(s *jen.Statement) bool { return s.GoString() == "" }

// runs prints the calls on the runs of the inner dimension.
func (p *loopPrinter) runs() []jen.Code {
	if p.single {
		return p.calls()
	}
	tile := jen.Id(strconv.Itoa(p.l.Tile))
	inner := p.int(p.l.Inner)
	return []jen.Code{
		jen.For(jen.Id("lo").Op(":=").Lit(0), jen.Id("lo").Op("<").Add(inner.Clone()), jen.Id("lo").Op("+=").Add(tile.Clone())).Block(
			append([]jen.Code{jen.Id("hi").Op(":=").Min(jen.Id("lo").Op("+").Add(tile.Clone()), inner.Clone())}, p.calls()...)...),
	}
}

func (p *loopPrinter) calls() []jen.Code {
	var out []jen.Code
	for _, c := range p.l.Body {
		args := make([]jen.Code, len(c.Args))
		for i, a := range c.Args {
			if t, ok := a.(program.Tile); ok {
				args[i] = p.tile(t)
			} else {
				args[i] = p.arg(a, p.v)
			}
		}
		call := kernel(c.Kernel).Call(args...)
		if c.Node != nil && c.Node.Pos == "" {
			c.Node.Pos = p.l.Node.Pos
		}
		node := c.Node
		if node == nil {
			node = p.l.Node
		}
		out = append(out, p.fallible(c.Kernel, node, call))
	}
	return out
}

// tile prints the run that a call works on.
func (p *loopPrinter) tile(t program.Tile) *jen.Statement {
	switch t.Kind {
	case program.TileTemp:
		return p.head(p.slice(p.l.Temps[t.Index], p.v))
	case program.TileResult:
		return p.run(p.l.Results[t.Index], p.resultStrides())
	}
	o := p.l.Operands[t.Index]
	if o.Period > 0 {
		return p.head(p.slice(o.Tile, p.v))
	}
	return p.run(o.Ref, o.Strides)
}

// head prints the part of a temporary that a run uses.
func (p *loopPrinter) head(s *jen.Statement) *jen.Statement {
	if p.single {
		if n, ok := p.l.Inner.Int(); ok && n == program.TileLen {
			return s
		}
		return s.Index(jen.Empty(), p.int(p.l.Inner))
	}
	return s.Index(jen.Empty(), jen.Id("hi").Op("-").Id("lo"))
}

// run prints the current run of an operand or a result.
func (p *loopPrinter) run(ref *program.Ref, strides []ir.Dim) *jen.Statement {
	s := p.slice(ref, p.v)
	at := p.start(strides)
	none := isEmpty(at)
	if p.single {
		if none && ref.Len.Equal(p.l.Inner) {
			return s
		}
		if none {
			return s.Index(jen.Empty(), p.int(p.l.Inner))
		}
		return s.Index(at, at.Clone().Op("+").Add(p.int(p.l.Inner)))
	}
	if none {
		return s.Index(jen.Id("lo"), jen.Id("hi"))
	}
	return s.Index(at.Clone().Op("+").Id("lo"), at.Clone().Op("+").Id("hi"))
}

// chains collects the functions that kernels apply to runs of their results.
type chains struct {
	names  *names
	byText map[string]string
	decls  []jen.Code // not in a file yet
	f      *function
}

// take returns the declarations of the functions that were named since the last call: they
// stand in the file that uses them first.
func (c *chains) take() []jen.Code {
	decls := c.decls
	c.decls = nil
	return decls
}

// name returns the function of a chain, declaring it when it is new.
func (c *chains) name(chain *program.Chain) string {
	var body []jen.Code
	used := map[int]bool{}
	for _, call := range chain.Body {
		args := make([]jen.Code, len(call.Args))
		for i, a := range call.Args {
			t, ok := a.(program.Tile)
			switch {
			case !ok:
				args[i] = c.f.arg(a, nil)
			case t.Index == 0:
				args[i] = jen.Id("t")
			default:
				used[t.Index] = true
				args[i] = jen.Id("in").Index(jen.Lit(t.Index-1)).Index(jen.Id("at"), jen.Id("at").Op("+").Len(jen.Id("t")))
			}
		}
		body = append(body, kernel(call.Kernel).Call(args...))
	}
	key := jen.Block(body...).GoString()
	if name, ok := c.byText[key]; ok {
		return name
	}
	var label string
	for _, call := range chain.Body {
		label += call.Kernel
	}
	name := c.names.unique(unexported(label))
	c.byText[key] = name
	at, in := "at", "in"
	if len(used) == 0 {
		at, in = "_", "_"
	}
	c.decls = append(c.decls,
		jen.Line(),
		jen.Comment(name+" continues a kernel on a run of its result that is still in a near cache."),
		jen.Func().Id(name).Params(jen.Id("t").Index().Float32(), jen.Id(at).Int(), jen.Id(in).Op("*").Index(jen.Lit(2)).Index().Float32()).Block(body...))
	return name
}
