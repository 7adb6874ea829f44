package exec

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// helpers make calls of kernels from a name, or its stem: the names that they
// make of their arguments.
var helpers = map[string]func(args []string) []string{
	"callUnary":      func(args []string) []string { return args[:1] },
	"callLines":      func(args []string) []string { return args[:1] },
	"resizeCall":     func(args []string) []string { return args[:1] },
	"measures":       func(args []string) []string { return args[:1] },
	"directPool":     func(args []string) []string { return args[:1] },
	"measureExtents": func(args []string) []string { return args[1:2] },
	"callPack":       func(args []string) []string { return args[:1] },
	"callSteps":      func(args []string) []string { return args[1:2] },
	"callScaled":     func(args []string) []string { return args[:1] },
	"callComparison": func(args []string) []string {
		return []string{args[1], args[1] + "Scalar", args[2] + "Scalar"}
	},
	"callBinary": func(args []string) []string {
		names := []string{args[1], args[1] + "Scalar"}
		if commutative := args[2]; commutative == "false" {
			names = append(names, "Scalar"+args[1])
		}
		return names
	},
}

// computed holds the expressions that name kernels otherwise.
var computed = map[string][]string{
	`"ScatterElements" + scatterReductions[op.Reduction].suffix`: {
		"ScatterElements", "ScatterElementsAdd", "ScatterElementsMul", "ScatterElementsMax", "ScatterElementsMin",
	},
	`"ScatterND" + scatterReductions[op.Reduction].suffix`: {
		"ScatterND", "ScatterNDAdd", "ScatterNDMul", "ScatterNDMax", "ScatterNDMin",
	},
	"kernel": {"HasTensor", "HasSequence"}, // of OptionalHasElement
	"containerCopies[t.Kind][t.Elem.Kind]": {
		"CopySequence", "CopyMaps", "CopyOptional", "CopyOptionalSequence", "CopyMap",
	},
	"callLines(kernel, x.Shape, op.Axes)": { // of Reduce
		"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceSumSquare",
		"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceAny", "ReduceAll",
	},
}

// Every kernel that an operator or a step of a program calls is in the table.
func TestNamedKernelsExist(t *testing.T) {
	named, used := map[string]bool{}, map[string]bool{}
	for _, pattern := range []string{"../../ir/op/*.go", "../program/*.go"} {
		files, err := filepath.Glob(filepath.FromSlash(pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files: %v", pattern, len(files), err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			eachNamed(t, file, func(names []string, expression string) {
				if names == nil {
					used[expression] = true
					listed, ok := computed[expression]
					if names = listed; !ok {
						t.Errorf("%s: computed has to list what %s names", file, expression)
					}
				}
				for _, name := range names {
					named[name] = true
				}
			})
		}
	}
	for expression := range computed {
		if !used[expression] {
			t.Errorf("%s is not in the source", expression)
		}
	}
	if len(named) < 150 {
		t.Errorf("%d kernels are named, more than 150 expected", len(named))
	}
	for name := range named {
		if k, err := kernel(name); err != nil {
			t.Error(err)
		} else if len(k.instances) == 0 {
			t.Errorf("kernel %s has no instances", name)
		}
	}
}

// eachNamed calls visit for every expression of a file that names kernels: with
// the names, nil when they are no literals, and its text.
func eachNamed(t *testing.T, file string, visit func(names []string, expression string)) {
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && helpers[fn.Name.Name] != nil {
			continue
		}
		ast.Inspect(d, func(x ast.Node) bool {
			switch x := x.(type) {
			case *ast.CompositeLit:
				if value := kernelOf(x); value != nil {
					visit(literals(value), sourceOf(value))
				}
			case *ast.CallExpr:
				if helper := helpers[nameOf(x.Fun)]; helper != nil {
					names := literals(x.Args...)
					if names != nil {
						names = helper(names)
					}
					visit(names, sourceOf(x))
				}
			}
			return true
		})
	}
}

// nameOf returns the name of a function or method that is called, "" for others.
func nameOf(f ast.Expr) string {
	switch f := f.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// kernelOf returns the kernel of a call's literal, nil for other literals and
// where it is another call's.
func kernelOf(x *ast.CompositeLit) ast.Expr {
	typ := x.Type
	if s, ok := typ.(*ast.SelectorExpr); ok {
		typ = s.Sel
	}
	if typ != nil && sourceOf(typ) != "Call" && sourceOf(typ) != "TileCall" {
		return nil
	}
	for _, e := range x.Elts {
		field, ok := e.(*ast.KeyValueExpr)
		if !ok || sourceOf(field.Key) != "Kernel" {
			continue
		}
		if s, ok := field.Value.(*ast.SelectorExpr); ok && s.Sel.Name == "Kernel" {
			return nil
		}
		return field.Value
	}
	return nil
}

// literals returns the strings that expressions are and the text of what is
// none, or nil when there is no string.
func literals(list ...ast.Expr) []string {
	out, some := make([]string, len(list)), false
	for i, x := range list {
		out[i] = sourceOf(x)
		if s, err := strconv.Unquote(out[i]); err == nil {
			out[i], some = s, true
		}
	}
	if !some {
		return nil
	}
	return out
}

// sourceOf is the source of an expression.
func sourceOf(x ast.Node) string {
	var b bytes.Buffer
	_ = printer.Fprint(&b, token.NewFileSet(), x)
	return b.String()
}
