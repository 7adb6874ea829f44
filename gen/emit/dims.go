package emit

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// expr is a printed expression.
type expr struct {
	*jen.Statement
	// sum says that the expression needs parentheses as a factor of a product.
	sum bool
}

func (e expr) factor() *jen.Statement {
	if e.sum {
		return jen.Parens(e.Statement)
	}
	return e.Statement
}

// goInt is the algebra for [dim.Fold] that prints an extent as a Go expression of type int. The
// expression uses the variables of the function f.
type goInt struct{ f *function }

func (goInt) Const(n int64) expr { return expr{jen.Id(fmt.Sprint(n)), n < 0} }

func (g goInt) Sym(name string) expr {
	g.f.used[name] = true
	return expr{g.f.id(g.f.symbols[name]), false}
}

func (goInt) Add(a, b expr) expr { return expr{jen.Add(a).Op("+").Add(b), true} }

func (goInt) Sub(a, b expr) expr { return expr{jen.Add(a).Op("-").Add(b.factor()), true} }

func (goInt) Mul(a, b expr) expr { return expr{jen.Add(a.factor()).Op("*").Add(b.factor()), false} }

func (goInt) FloorDiv(a, b expr) expr {
	return expr{jen.Qual(rtPath, "FloorDiv").Call(a, b), false}
}

func (goInt) Min(args ...expr) expr { return expr{jen.Min(codes(args)...), false} }

func (goInt) Max(args ...expr) expr { return expr{jen.Max(codes(args)...), false} }

func codes(args []expr) []jen.Code {
	out := make([]jen.Code, len(args))
	for i, a := range args {
		out[i] = a
	}
	return out
}

// sized is the algebra for [dim.Fold] that prints an extent as a Go expression of type int64. Its
// operations are calls of methods of an rt.Sizes, which detects overflow.
type sized struct {
	f *function
	z string // variable of the rt.Sizes
	// wide says that the variables of symbols are int64.
	wide bool
}

func (sized) Const(n int64) *jen.Statement { return jen.Id(fmt.Sprint(n)) }

func (s sized) Sym(name string) *jen.Statement {
	if s.wide {
		return jen.Id(s.f.symbols[name])
	}
	s.f.used[name] = true
	return jen.Int64().Call(s.f.id(s.f.symbols[name]))
}

func (s sized) Add(a, b *jen.Statement) *jen.Statement { return s.call("Add", a, b) }

func (s sized) Sub(a, b *jen.Statement) *jen.Statement { return s.call("Sub", a, b) }

func (s sized) Mul(a, b *jen.Statement) *jen.Statement { return s.call("Mul", a, b) }

func (s sized) FloorDiv(a, b *jen.Statement) *jen.Statement { return s.call("FloorDiv", a, b) }

func (s sized) Min(args ...*jen.Statement) *jen.Statement { return s.pairwise("Min", args) }

func (s sized) Max(args ...*jen.Statement) *jen.Statement { return s.pairwise("Max", args) }

func (s sized) pairwise(method string, args []*jen.Statement) *jen.Statement {
	out := args[0]
	for _, a := range args[1:] {
		out = s.call(method, out, a)
	}
	return out
}

func (s sized) call(method string, a, b *jen.Statement) *jen.Statement {
	return jen.Id(s.z).Dot(method).Call(a, b)
}

// int prints the extent d as a Go int. If d may overflow, the generated code checks it before; see
// [fits.need].
func (f *function) int(d dim.Dim) *jen.Statement { return f.expr(d).Statement }

func (f *function) expr(d dim.Dim) expr {
	f.fits.need(d)
	return foldDim(d, dim.Algebra[expr](goInt{f}))
}

func foldDim[T any](d dim.Dim, alg dim.Algebra[T]) T {
	e, err := dim.Fold(d, alg)
	if err != nil {
		ir.FailWith(err)
	}
	return e
}
