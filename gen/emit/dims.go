package emit

import (
	"fmt"

	"github.com/dave/jennifer/jen"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// expr is a printed expression; sum reports whether it needs parentheses as a factor.
type expr struct {
	*jen.Statement
	sum bool
}

// factor puts a sum in parentheses.
func (e expr) factor() *jen.Statement {
	if e.sum {
		return jen.Parens(e.Statement)
	}
	return e.Statement
}

// goInt prints an extent as an expression over ints: the algebra of [dim.Fold].
type goInt struct{ f *function }

// Const prints a number.
func (goInt) Const(n int64) expr { return expr{jen.Id(fmt.Sprint(n)), n < 0} }

// Sym prints the variable of a symbol.
func (g goInt) Sym(name string) expr {
	g.f.used[name] = true
	return expr{g.f.id(g.f.symbols[name]), false}
}

// Add prints a sum.
func (goInt) Add(a, b expr) expr { return expr{jen.Add(a).Op("+").Add(b), true} }

// Sub prints a difference.
func (goInt) Sub(a, b expr) expr { return expr{jen.Add(a).Op("-").Add(b.factor()), true} }

// Mul prints a product.
func (goInt) Mul(a, b expr) expr { return expr{jen.Add(a.factor()).Op("*").Add(b.factor()), false} }

// FloorDiv prints a quotient rounded down.
func (goInt) FloorDiv(a, b expr) expr {
	return expr{jen.Qual(rtPath, "FloorDiv").Call(a, b), false}
}

// Min prints the smallest of the arguments.
func (goInt) Min(args ...expr) expr { return expr{jen.Min(codes(args)...), false} }

// Max prints the largest of the arguments.
func (goInt) Max(args ...expr) expr { return expr{jen.Max(codes(args)...), false} }

func codes(args []expr) []jen.Code {
	out := make([]jen.Code, len(args))
	for i, a := range args {
		out[i] = a
	}
	return out
}

// sized prints an extent as an expression over int64 with overflow checks: the methods of an
// rt.Sizes.
type sized struct {
	f *function
	z string // its variable
	// wide says that the variables of symbols are int64.
	wide bool
}

// Const prints a number.
func (sized) Const(n int64) *jen.Statement { return jen.Id(fmt.Sprint(n)) }

// Sym prints the variable of a symbol.
func (s sized) Sym(name string) *jen.Statement {
	if s.wide {
		return jen.Id(s.f.symbols[name])
	}
	s.f.used[name] = true
	return jen.Int64().Call(s.f.id(s.f.symbols[name]))
}

// Add prints a sum.
func (s sized) Add(a, b *jen.Statement) *jen.Statement { return s.call("Add", a, b) }

// Sub prints a difference.
func (s sized) Sub(a, b *jen.Statement) *jen.Statement { return s.call("Sub", a, b) }

// Mul prints a product.
func (s sized) Mul(a, b *jen.Statement) *jen.Statement { return s.call("Mul", a, b) }

// FloorDiv prints a quotient rounded down.
func (s sized) FloorDiv(a, b *jen.Statement) *jen.Statement { return s.call("FloorDiv", a, b) }

// Min prints the smallest of the arguments.
func (s sized) Min(args ...*jen.Statement) *jen.Statement { return s.pairwise("Min", args) }

// Max prints the largest of the arguments.
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

// int prints an extent as an int.
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
