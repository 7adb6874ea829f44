package main

import (
	"fmt"
	"go/types"
)

// kind is how a constructor represents a parameter of a kernel, or a field of a composite one.
type kind string

const (
	memory    kind = "Memory"
	memories  kind = "[]Memory"
	scalar    kind = "Scalar"
	extent    kind = "dim.Dim"
	extents   kind = "[]dim.Dim"
	flags     kind = "bool"
	text      kind = "string"
	roundMode kind = "rt.RoundMode"
	named     kind = "Constant"
	chain     kind = "*ir.Block"
	pointer   kind = "*" // a pointer to a composite argument, whose name follows
	contexts  kind = ""  // which constructors supply
)

type param struct {
	name string
	typ  string // in Go
	kind kind
	of   *composite // what a pointer points to; nil for other types
}

// elementFlags lists the bool parameters that are elements of tensors, not flags.
var elementFlags = map[string]bool{
	"AndScalar.b": true, "OrScalar.b": true, "XorScalar.b": true, "Require.got": true,
}

// param describes v, a parameter of a kernel or a field of a composite argument. kernel is the name
// of the kernel or of the composite. It returns an error if a constructor cannot have the type of v.
func (w *writer) param(kernel string, v *types.Var) (param, error) {
	p := param{name: v.Name(), typ: types.TypeString(v.Type(), qualifier)}
	if elementFlags[kernel+"."+v.Name()] {
		p.kind = scalar
		return p, nil
	}
	switch t := v.Type().(type) {
	case *types.TypeParam:
		p.kind = scalar
	case *types.Map:
		p.kind = memory
	case *types.Slice:
		p.kind = memory
		if isInt(t.Elem()) {
			p.kind = extents
		}
	case *types.Array:
		p.kind = extents
		if _, list := t.Elem().(*types.Slice); list {
			p.kind = memories
		}
	case *types.Signature:
		p.kind = chain
	case *types.Pointer:
		named, ok := t.Elem().(*types.Named)
		if !ok || named.Obj().Pkg().Name() == "rt" {
			p.kind = memory
			break
		}
		var err error
		p.kind = pointer
		if p.of, err = w.composite(named); err != nil {
			return p, err
		}
	case *types.Named:
		switch {
		case p.typ == "context.Context":
			p.kind = contexts
		case p.typ == "rt.RoundMode":
			p.kind = roundMode
		case types.Identical(t.Underlying(), types.Typ[types.String]):
			p.kind = text
		case qualifier(t.Obj().Pkg()) == "":
			p.kind = named
		}
	case *types.Basic:
		switch {
		case isInt(t):
			p.kind = extent
		case t.Info()&types.IsBoolean != 0:
			p.kind = flags
		case t.Info()&types.IsString != 0:
			p.kind = text
		case t.Info()&types.IsNumeric != 0:
			p.kind = scalar
		}
	}
	if p.kind == "" && p.typ != "context.Context" {
		return p, fmt.Errorf("%s.%s: a constructor cannot have a %s", kernel, p.name, p.typ)
	}
	return p, nil
}

func isInt(t types.Type) bool { return types.Identical(t, types.Typ[types.Int]) }

// qualifier names packages as generated code does; the kernels' own package has no name.
func qualifier(p *types.Package) string {
	if p.Path() == runtimePath+"cpu" {
		return ""
	}
	return p.Name()
}

func (p param) spelled() string {
	if p.kind == pointer {
		return "*" + p.of.name
	}
	return string(p.kind)
}

// value returns what a constructor passes to the kernel as the argument for p. expr is the
// expression for the constructor's parameter.
func (p param) value(expr string) string {
	switch p.kind {
	case contexts:
		return "Context{}"
	case roundMode:
		return "dim.Const(int(" + expr + "))"
	case pointer:
		return expr + ".composite()"
	}
	return expr
}

// composite is a struct that kernels take a pointer to.
type composite struct {
	name   string
	fields []param
}

// composite describes the composite arguments of type t. It returns an error if t is not a struct,
// or if a field has a type that no parameter of a constructor may have.
func (w *writer) composite(t *types.Named) (*composite, error) {
	name := t.Obj().Name()
	if c := w.composites[name]; c != nil {
		return c, nil
	}
	fields, ok := t.Underlying().(*types.Struct)
	if !ok {
		return nil, fmt.Errorf("%s is not a struct", name)
	}
	c := &composite{name: name}
	for f := range fields.Fields() {
		p, err := w.param(name, f)
		if err != nil {
			return nil, err
		}
		c.fields = append(c.fields, p)
	}
	w.composites[name] = c
	return c, nil
}
