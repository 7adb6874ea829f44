package gen

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/onnx"
)

// AddCustom adds an operator that a function of the user's program computes, as
// [op.ParseCustom] reads it.
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

// customs finds the custom operators that nodes of a model name.
type customs struct {
	list []op.Custom
	used map[string]bool // by name
}

func newCustoms(list []op.Custom) *customs { return &customs{list, map[string]bool{}} }

// find is what [onnx.Options] ask for an operator.
func (c *customs) find(domain, name string) (onnx.CustomOp, bool) {
	for _, o := range c.list {
		if d, n := o.Domain(); d == domain && n == name {
			c.used[o.Name] = true
			return o.Import, true
		}
	}
	return nil, false
}

// unused reports the operators that no node named, a line each.
func (c *customs) unused(file string) error {
	var errs []error
	for _, o := range c.list {
		switch {
		case c.used[o.Name]:
		case onnx.Knows(o.Domain()):
			errs = append(errs, fmt.Errorf("%s: -custom %s: burngen has this operator", file, o.Name))
		default:
			errs = append(errs, fmt.Errorf("%s: -custom %s: no node of the model is one", file, o.Name))
		}
	}
	return errors.Join(errs...)
}

// CheckFunc looks for the function of a custom operator, in the package that its import
// path names in a folder's module. It returns an error where the package is there and
// has no such function, or one of a type that can only be another. A package that is
// not found, and types that take a compiler to know, are left to the Go compiler.
func CheckFunc(o op.Custom, dir string) error {
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
					return fmt.Errorf("-custom %s: %s is no func(*rt.Call) error", o.Name, o.Func)
				}
				return nil
			case *ast.GenDecl:
				if declares(d, name) {
					return nil
				}
			}
		}
	}
	return fmt.Errorf("-custom %s: package %s has no %s", o.Name, path, name)
}

// CheckGradients is [CheckFunc] for the functions that compute gradients in a model's
// training.
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
			if err := CheckFunc(c.Op, dir); err != nil {
				return err
			}
		}
	}
	return nil
}

// packageFiles returns the Go files of a package, for any platform, none where the go
// command does not find it.
func packageFiles(path, dir string) []string {
	for {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			break
		}
		above := filepath.Dir(dir)
		if above == dir {
			return nil
		}
		dir = above
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

// mayCompute reports whether a function may be a func(*rt.Call) error: it has one
// parameter and one result, of types that have names.
func mayCompute(t *ast.FuncType) bool {
	return t.TypeParams == nil && t.Params.NumFields() == 1 && t.Results.NumFields() == 1 &&
		isNamed(t.Params.List[0].Type, "Call") && isNamed(t.Results.List[0].Type, "error")
}

// isNamed reports whether a type may be one called name, or a pointer to it: it is not a
// literal, nor another type that Go predeclares.
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

// declares reports whether a declaration is of a variable called name.
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
