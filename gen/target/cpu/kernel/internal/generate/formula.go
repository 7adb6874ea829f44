package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/constant"
	"go/format"
	"go/token"
	"go/types"
	"strings"
)

// formulas are the functions of runtime/cpu that return the size of a kernel's scratch memory.
var formulas = []string{
	"AttentionScratch", "ConvWeightsBlockedRoom", "ConvWeightsScratch", "ProductColumnsScratch", "WinogradScratch",
}

// constants are constants of runtime/cpu that callers of [formulas] need.
var constants = []string{"ConvWeightsParts"}

// formulaFile translates the functions listed in formulas from integers to extents. A function
// consists of assignments and a result. The expressions may have sums, products, constants, min, max,
// ceil, volume, and fields and methods of a composite argument. These methods are formulas too.
func (s *source) formulaFile() ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%spackage kernel\n\nimport %q\n", header, "github.com/burngen/burngen/ir/dim")
	for _, name := range constants {
		c, ok := s.pkg.Scope().Lookup(name).(*types.Const)
		if !ok {
			return nil, fmt.Errorf("no constant %s", name)
		}
		fmt.Fprintf(&b, "\n// %s is cpu.%s.\nconst %s = %s\n", name, name, name, c.Val())
	}
	for _, name := range formulas {
		decl := s.funcs[name]
		if decl == nil {
			return nil, fmt.Errorf("no function %s", name)
		}
		var params []string
		for _, p := range decl.Type.Params.List {
			typ := "dim.Dim"
			if _, ok := p.Type.(*ast.StarExpr); ok {
				typ = types.ExprString(p.Type)
			}
			var names []string
			for _, n := range p.Names {
				names = append(names, n.Name)
			}
			params = append(params, strings.Join(names, ", ")+" "+typ)
		}
		fmt.Fprintf(&b, "\n// %s is cpu.%s of extents.\nfunc %s(%s) dim.Dim {\n", name, name, name, strings.Join(params, ", "))
		stmts := decl.Body.List
		for _, st := range stmts[:len(stmts)-1] {
			a, ok := st.(*ast.AssignStmt)
			if !ok || len(a.Lhs) != 1 || a.Tok != token.DEFINE {
				return nil, fmt.Errorf("%s: a formula cannot have a %T", name, st)
			}
			value, err := s.formula(a.Rhs[0])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			fmt.Fprintf(&b, "%s := %s\n", a.Lhs[0].(*ast.Ident).Name, value)
		}
		result, err := s.result(stmts[len(stmts)-1])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		fmt.Fprintf(&b, "return %s\n}\n", result)
	}
	return format.Source(b.Bytes())
}

func (s *source) result(st ast.Stmt) (string, error) {
	r, ok := st.(*ast.ReturnStmt)
	if !ok || len(r.Results) != 1 {
		return "", fmt.Errorf("a formula cannot end with a %T", st)
	}
	return s.formula(r.Results[0])
}

func (s *source) formula(e ast.Expr) (string, error) {
	if v := s.info.Types[e].Value; v != nil {
		n, ok := constant.Int64Val(v)
		if !ok {
			return "", fmt.Errorf("%s is not an integer", v)
		}
		return fmt.Sprintf("dim.Const(%d)", n), nil
	}
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name, nil
	case *ast.ParenExpr:
		return s.formula(e.X)
	case *ast.SelectorExpr:
		return types.ExprString(e), nil
	case *ast.BinaryExpr:
		method := map[token.Token]string{token.ADD: "Add", token.SUB: "Sub", token.MUL: "Mul"}[e.Op]
		if method == "" {
			return "", fmt.Errorf("a formula cannot have %s", e.Op)
		}
		return s.fold(method, e.X, e.Y)
	case *ast.CallExpr:
		return s.called(e)
	}
	return "", fmt.Errorf("a formula cannot have a %T", e)
}

func (s *source) called(e *ast.CallExpr) (string, error) {
	if m, ok := e.Fun.(*ast.SelectorExpr); ok { // of a composite argument, which has one name everywhere
		decl := s.funcs[types.TypeString(s.info.Types[m.X].Type, qualifier)+"."+m.Sel.Name]
		if decl == nil || len(decl.Body.List) != 1 || decl.Recv.List[0].Names[0].Name != types.ExprString(m.X) {
			return "", fmt.Errorf("%s is not a formula", m.Sel.Name)
		}
		return s.result(decl.Body.List[0])
	}
	switch name := types.ExprString(e.Fun); name {
	case "min":
		return s.fold("Min", e.Args...)
	case "max":
		return s.fold("Max", e.Args...)
	case "volume":
		return s.fold("Mul", e.Args...)
	case "ceil":
		return s.fold("CeilDiv", e.Args...)
	default:
		return "", fmt.Errorf("a formula cannot call %s", name)
	}
}

// fold combines expressions from the left by a method of extents.
func (s *source) fold(method string, list ...ast.Expr) (string, error) {
	var out string
	for i, e := range list {
		x, err := s.formula(e)
		if err != nil {
			return "", err
		}
		if i == 0 {
			out = x
		} else {
			out = fmt.Sprintf("%s.%s(%s)", out, method, x)
		}
	}
	return out, nil
}
