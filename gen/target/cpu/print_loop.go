package cpu

import (
	"strconv"

	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/plan"
)

// loop prints a pointwise region as nested loops, one for each outer dimension. The innermost body makes the calls of
// l.Body on runs: a run is at most l.Tile adjacent elements of the inner dimension, or all of them if the loop is
// [Loop.Direct]. If there may be several runs, the calls are in a further loop over the runs. Before the calls, the
// body fills a run with the repeated elements of each operand that has a Period.
func (p *printing) loop(l *Loop) []jen.Code {
	lp := &loopPrinter{printing: p, l: l}
	n, static := l.Inner.Int()
	lp.single = static && n <= l.Tile || l.Direct()
	var body []jen.Code
	for i, o := range l.Operands {
		if o.Period > 0 {
			body = append(body, lp.repeat(i, o))
		}
	}
	body = append(body, lp.runs()...)
	for i := len(l.Outer) - 1; i >= 0; i-- {
		body = []jen.Code{jen.For(jen.Id(loopVar(i)).Op(":=").Range().Add(p.Int(l.Outer[i]))).Block(body...)}
	}
	return body
}

type loopPrinter struct {
	*printing
	l      *Loop
	single bool // the inner dimension is not longer than one run
}

// loopVar returns the name of the variable of the loop over outer dimension i. It is a letter from i to l for the
// first four dimensions, and then i_4, i_5 and so on. Names from a model never have this form.
func loopVar(i int) string {
	if letters := "ijkl"; i < len(letters) {
		return letters[i : i+1]
	}
	return "i_" + strconv.Itoa(i)
}

// start prints the index of the element at which the inner dimension begins, in an operand or result with these
// strides along the outer dimensions.
func (p *loopPrinter) start(strides []dim.Dim) *jen.Statement {
	out := jen.Empty()
	for i, s := range strides {
		if s.Equal(dim.Dim{}) {
			continue
		}
		if len(*out) > 1 || i > 0 && len(*out) > 0 {
			out = out.Op("+")
		}
		out = out.Id(loopVar(i))
		if !s.Equal(dim.Const(1)) {
			out = out.Op("*").Add(p.Factor(s))
		}
	}
	return out
}

func (p *loopPrinter) resultStrides() []dim.Dim {
	strides := make([]dim.Dim, len(p.l.Outer))
	at := p.l.Inner
	for i := len(strides) - 1; i >= 0; i-- {
		strides[i] = at
		at = at.Mul(p.l.Outer[i])
	}
	return strides
}

func (p *loopPrinter) repeat(i int, o LoopOperand) jen.Code {
	tile := p.Slice(o.Tile)
	if n, ok := p.l.Inner.Int(); ok && n < p.l.Tile {
		tile = tile.Index(jen.Empty(), jen.Id(strconv.Itoa(n)))
	}
	src := p.Slice(o.Ref)
	at := p.start(o.Strides)
	if len(*at) == 0 || isEmpty(at) {
		if n, ok := o.Ref.Len.Int(); !ok || n != o.Period {
			src = src.Index(jen.Empty(), jen.Id(strconv.Itoa(o.Period)))
		}
	} else {
		src = src.Index(at, at.Clone().Op("+").Id(strconv.Itoa(o.Period)))
	}
	return jen.Qual(runtimePath, "Repeat").Call(tile, src)
}

func isEmpty(s *jen.Statement) bool { return s.GoString() == "" }

func (p *loopPrinter) runs() []jen.Code {
	if p.single {
		return p.calls()
	}
	tile := jen.Id(strconv.Itoa(p.l.Tile))
	inner := p.Int(p.l.Inner)
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
			if t, ok := a.(Tile); ok {
				args[i] = p.tile(t)
			} else {
				args[i] = p.arg(a)
			}
		}
		call := goFunc(c.Kernel).Call(args...)
		if c.Node != nil && c.Node.Pos == "" {
			c.Node.Pos = p.l.Node.Pos
		}
		node := c.Node
		if node == nil {
			node = p.l.Node
		}
		out = append(out, p.checked(c.Kernel, node, call))
	}
	return out
}

func (p *loopPrinter) tile(t Tile) *jen.Statement {
	switch t.Kind {
	case TileTemp:
		return p.head(p.Slice(p.l.Temps[t.Index]))
	case TileResult:
		return p.run(p.l.Results[t.Index], p.resultStrides())
	}
	o := p.l.Operands[t.Index]
	if o.Period > 0 {
		return p.head(p.Slice(o.Tile))
	}
	return p.run(o.Ref, o.Strides)
}

// head prints the first n elements of s, the memory of a temporary. n is the length of the current run.
func (p *loopPrinter) head(s *jen.Statement) *jen.Statement {
	if p.single {
		if n, ok := p.l.Inner.Int(); ok && n == TileLen {
			return s
		}
		return s.Index(jen.Empty(), p.Int(p.l.Inner))
	}
	return s.Index(jen.Empty(), jen.Id("hi").Op("-").Id("lo"))
}

func (p *loopPrinter) run(ref *plan.Ref, strides []dim.Dim) *jen.Statement {
	s := p.Slice(ref)
	at := p.start(strides)
	none := isEmpty(at)
	if p.single {
		if none && ref.Len.Equal(p.l.Inner) {
			return s
		}
		if none {
			return s.Index(jen.Empty(), p.Int(p.l.Inner))
		}
		return s.Index(at, at.Clone().Op("+").Add(p.Int(p.l.Inner)))
	}
	if none {
		return s.Index(jen.Id("lo"), jen.Id("hi"))
	}
	return s.Index(at.Clone().Op("+").Id("lo"), at.Clone().Op("+").Id("hi"))
}
