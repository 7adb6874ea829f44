// Package config reads configurations. A configuration is a struct with the directive //burngen:config. The function
// New of a described model may take one. The package parses configurations from syntax alone, prints their functions,
// and converts values from a command line or a file to a Go expression. It does not know models.
package config

import (
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"reflect"
	"strconv"
)

// File is the name of the generated file in a folder with configurations.
const File = "config_burngen.go"

// Struct is a configuration.
type Struct struct {
	Name, Doc string
	Fields    []*Field
}

// Field is a field of a configuration.
type Field struct {
	Name, Doc string
	Type      *Type
	// Key is the JSON key. Tag is the struct tag as the source writes it, or "" if the field has no tag.
	Key, Tag string
	// Default is the Go expression of the default, or "" if the field has no default.
	Default string
}

// Required reports whether the field must be given: it has no default and is not a pointer.
func (f *Field) Required() bool { return f.Default == "" && f.Type.kind != pointer }

// Set holds the configurations of a package, in the order of declaration.
type Set struct {
	Structs []*Struct
	// Types are the package's own named number, string and bool types that fields use.
	Types []*Type
}

// Struct returns the configuration called name, or nil.
func (s *Set) Struct(name string) *Struct {
	for _, c := range s.Structs {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// Names returns the package-level names that the generated code declares: the type, the New function and the Load
// function of each configuration, and those types of the user's package that fields of the configurations have.
func (s *Set) Names() []string {
	var names []string
	for _, c := range s.Structs {
		names = append(names, c.Name, "New"+c.Name, "Load"+c.Name)
	}
	for _, t := range s.Types {
		names = append(names, t.name)
	}
	return names
}

// Marked is a type declaration with the directive that marks a configuration.
type Marked struct {
	Spec *ast.TypeSpec
	Doc  string
	Pos  token.Pos // position of the directive
}

type reader struct {
	fset   *token.FileSet
	set    *Set
	marked map[string]bool
	// local maps the name of each type that the package declares to its definition.
	local  map[string]ast.Expr
	faults scanner.ErrorList
}

func (r *reader) fault(pos token.Pos, format string, args ...any) {
	r.faults.Add(r.fset.Position(pos), fmt.Sprintf(format, args...))
}

// Read returns the configurations of the types in `marked`, and all errors. `files` are all files of the package that
// declares the types. If a field has an error, the other fields are still returned.
func Read(fset *token.FileSet, files []*ast.File, marked []Marked) (*Set, scanner.ErrorList) {
	r := &reader{fset: fset, set: &Set{}, marked: map[string]bool{}, local: map[string]ast.Expr{}}
	for _, f := range files {
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.TYPE {
				for _, s := range g.Specs {
					r.local[s.(*ast.TypeSpec).Name.Name] = s.(*ast.TypeSpec).Type
				}
			}
		}
	}
	for _, m := range marked {
		r.marked[m.Spec.Name.Name] = true
	}
	for _, m := range marked {
		st, ok := m.Spec.Type.(*ast.StructType)
		switch {
		case !ok:
			r.fault(m.Pos, "//burngen:config belongs above a struct; %s is not a struct", m.Spec.Name.Name)
		case m.Spec.TypeParams != nil:
			r.fault(m.Pos, "configuration %s has type parameters", m.Spec.Name.Name)
		case !m.Spec.Name.IsExported():
			r.fault(m.Spec.Name.Pos(), "configuration %s is unexported, so its functions would be; export it", m.Spec.Name.Name)
		default:
			r.set.Structs = append(r.set.Structs, r.fields(&Struct{Name: m.Spec.Name.Name, Doc: m.Doc}, st))
		}
	}
	return r.set, r.faults
}

func (r *reader) fields(c *Struct, st *ast.StructType) *Struct {
	for _, list := range st.Fields.List {
		if len(list.Names) == 0 {
			r.fault(list.Pos(), "configuration %s has an embedded field; give it a name", c.Name)
			continue
		}
		t := r.typ(list.Type)
		if t == nil {
			r.fault(list.Type.Pos(), "a configuration holds numbers, bools, texts, slices, arrays, maps with keys that are texts, and other configurations")
			continue
		}
		for _, name := range list.Names {
			if !name.IsExported() {
				r.fault(name.Pos(), "field %s.%s is unexported, so no file can hold it; export it", c.Name, name.Name)
				continue
			}
			f := &Field{Name: name.Name, Key: name.Name, Type: t, Doc: list.Doc.Text()}
			if list.Tag != nil {
				r.tag(c, f, list.Tag)
			}
			c.Fields = append(c.Fields, f)
		}
	}
	return c
}

func (r *reader) tag(c *Struct, f *Field, lit *ast.BasicLit) {
	f.Tag = lit.Value
	text, _ := strconv.Unquote(lit.Value)
	tag := reflect.StructTag(text)
	if key := jsonKey(tag); key == "-" {
		r.fault(lit.Pos(), "field %s.%s: the file of a configuration holds all of its fields", c.Name, f.Name)
	} else if key != "" {
		f.Key = key
	}
	text, ok := tag.Lookup("default")
	if !ok {
		return
	}
	expr, err := f.Type.literal(text)
	if err != nil {
		r.fault(lit.Pos(), "default of %s.%s: %v", c.Name, f.Name, err)
		expr = f.Type.zero()
	}
	f.Default = expr
}
