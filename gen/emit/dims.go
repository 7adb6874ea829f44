package emit

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// expr is a printed expression. sum says that it needs parentheses as a factor of a product.
type expr struct {
	*jen.Statement
	sum bool
}

// factor prints e as a factor of a product: a sum gets parentheses.
func (e expr) factor() *jen.Statement {
	if e.sum {
		return jen.Parens(e.Statement)
	}
	return e.Statement
}

// goInt is the algebra for [dim.Fold] that prints an extent as a Go expression of type int. The
// expression uses the variables of the function f.
type goInt struct{ f *function }

// Const prints the number n.
func (goInt) Const(n int64) expr { return expr{jen.Id(fmt.Sprint(n)), n < 0} }

// Sym prints the Go variable of a symbol.
func (g goInt) Sym(name string) expr {
	g.f.used[name] = true
	return expr{g.f.id(g.f.symbols[name]), false}
}

// Add prints a + b.
func (goInt) Add(a, b expr) expr { return expr{jen.Add(a).Op("+").Add(b), true} }

// Sub prints a − b.
func (goInt) Sub(a, b expr) expr { return expr{jen.Add(a).Op("-").Add(b.factor()), true} }

// Mul prints a · b.
func (goInt) Mul(a, b expr) expr { return expr{jen.Add(a.factor()).Op("*").Add(b.factor()), false} }

// FloorDiv prints a/b, rounded down.
func (goInt) FloorDiv(a, b expr) expr {
	return expr{jen.Qual(rtPath, "FloorDiv").Call(a, b), false}
}

// Min prints the smallest of args.
func (goInt) Min(args ...expr) expr { return expr{jen.Min(codes(args)...), false} }

// Max prints the largest of args.
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

// Const prints the number n.
func (sized) Const(n int64) *jen.Statement { return jen.Id(fmt.Sprint(n)) }

// Sym prints the Go variable of a symbol, as an int64.
func (s sized) Sym(name string) *jen.Statement {
	if s.wide {
		return jen.Id(s.f.symbols[name])
	}
	s.f.used[name] = true
	return jen.Int64().Call(s.f.id(s.f.symbols[name]))
}

// Add prints a call for a + b.
func (s sized) Add(a, b *jen.Statement) *jen.Statement { return s.call("Add", a, b) }

// Sub prints a call for a − b.
func (s sized) Sub(a, b *jen.Statement) *jen.Statement { return s.call("Sub", a, b) }

// Mul prints a call for a · b.
func (s sized) Mul(a, b *jen.Statement) *jen.Statement { return s.call("Mul", a, b) }

// FloorDiv prints a call for a/b, rounded down.
func (s sized) FloorDiv(a, b *jen.Statement) *jen.Statement { return s.call("FloorDiv", a, b) }

// Min prints a call for the smallest of args.
func (s sized) Min(args ...*jen.Statement) *jen.Statement { return s.pairwise("Min", args) }

// Max prints a call for the largest of args.
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
