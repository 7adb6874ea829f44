package gen

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os/exec"
	"strings"

	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/onnx"
)

// AddCustom adds an operator that a Go function of the user computes. [op.ParseCustom] parses text. AddCustom returns
// an error if the syntax of text is invalid, or if o has an operator of the same name.
func (o *Options) AddCustom(text string) error {
	c, err := op.ParseCustom(text)
	if err != nil {
		return err
	}
	for _, other := range o.Custom {
		if other.Name == c.Name {
			return fmt.Errorf("%s is given twice", c.Name)
		}
	}
	o.Custom = append(o.Custom, c)
	return nil
}

type customs struct {
	list []op.Custom
	used map[string]bool // operators that a node has named
}

func newCustoms(list []op.Custom) *customs { return &customs{list, map[string]bool{}} }

// find returns the import function of the custom operator with a domain and a name, and false if there
// is no such operator. It is the callback in [onnx.Options] for unknown operators.
func (c *customs) find(domain, name string) (onnx.CustomOp, bool) {
	for _, o := range c.list {
		if d, n := o.Domain(); d == domain && n == name {
			c.used[o.Name] = true
			return o.Import, true
		}
	}
	return nil, false
}

// unused returns an error with a line for each operator that no node used. Each line begins with file, the name of the
// model's file. The result is nil if all operators are used.
func (c *customs) unused(file string) error {
	var errs []error
	for _, o := range c.list {
		switch {
		case c.used[o.Name]:
		case onnx.Knows(o.Domain()):
			errs = append(errs, fmt.Errorf("%s: -custom %s: burngen has this operator itself", file, o.Name))
		default:
			errs = append(errs, fmt.Errorf("%s: -custom %s: the model has no node of this operator", file, o.Name))
		}
	}
	return errors.Join(errs...)
}

// CheckFunc checks that the function of the operator o, given with -custom, exists. The go command in the folder dir
// finds the function's package. CheckFunc returns an error if the package exists but the function does not, or if the
// function cannot have the right type. It accepts packages that it cannot find or parse, and types that need type
// checking, because the Go compiler checks both.
func CheckFunc(o op.Custom, dir string) error {
	if err := findFunc(o, dir); err != nil {
		return fmt.Errorf("-custom %s: %w", o.Name, err)
	}
	return nil
}

// findFunc is [CheckFunc] without the flag in its errors.
func findFunc(o op.Custom, dir string) error {
	path, name := o.Package()
	files := packageFiles(path, dir)
	if len(files) == 0 {
		return nil
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil
		}
		for _, d := range parsed.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv != nil || d.Name.Name != name {
					continue
				}
				if !mayCompute(d.Type) {
					return fmt.Errorf("%s is not a func(*rt.Call) error", o.Func)
				}
				return nil
			case *ast.GenDecl:
				if declares(d, name) {
					return nil
				}
			}
		}
	}
	return fmt.Errorf("package %s has no %s", path, name)
}

// CheckGradients applies the checks of [CheckFunc], with the same dir, to every custom function that training calls.
// These include the functions that compute gradients.
func (m *Model) CheckGradients(dir string) error {
	if m.Training == nil {
		return nil
	}
	checked := map[string]bool{}
	for _, f := range m.Training.Functions() {
		for _, c := range f.Customs() {
			if checked[c.Op.Func] {
				continue
			}
			checked[c.Op.Func] = true
			if err := findFunc(c.Op, dir); err != nil {
				return fmt.Errorf("custom operator %s: %w", c.Op.Name, err)
			}
		}
	}
	return nil
}

// packageFiles returns the Go files of a package for all platforms. path is its import path. The go command finds the
// package from the folder dir. If it does not find it, packageFiles returns nothing.
func packageFiles(path, dir string) []string {
	if dir = existing(dir); dir == "" {
		return nil
	}
	const format = `{{range .GoFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}{{range .CgoFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}{{range .IgnoredGoFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}`
	c := exec.Command("go", "list", "-find", "-f", format, "--", path)
	c.Dir = dir
	out, err := c.Output()
	if err != nil {
		return nil
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == '\n' })
}

// mayCompute reports whether a function of type t may be a func(*rt.Call) error. It compares the names
// of the types, because they are not type-checked.
func mayCompute(t *ast.FuncType) bool {
	return t.TypeParams == nil && t.Params.NumFields() == 1 && t.Results.NumFields() == 1 &&
		isNamed(t.Params.List[0].Type, "Call") && isNamed(t.Results.List[0].Type, "error")
}

// isNamed reports whether t may denote the type called `name`, or a pointer to it. It returns true if t is `name`,
// a qualified name such as pkg.T, or a name that is not predeclared: the last two may be aliases.
func isNamed(t ast.Expr, name string) bool {
	switch t := t.(type) {
	case *ast.StarExpr:
		return isNamed(t.X, name)
	case *ast.SelectorExpr:
		return true
	case *ast.Ident:
		return t.Name == name || types.Universe.Lookup(t.Name) == nil
	}
	return false
}

func declares(d *ast.GenDecl, name string) bool {
	for _, s := range d.Specs {
		if v, ok := s.(*ast.ValueSpec); ok {
			for _, id := range v.Names {
				if id.Name == name {
					return true
				}
			}
		}
	}
	return false
}
