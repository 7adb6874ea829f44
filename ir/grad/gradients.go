package grad

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// link gives each [ir.Linked] operator in f the function of m that computes its gradients. It returns an error if m
// lacks the function.
func link(m *ir.Module, f *ir.Func) error {
	for n := range f.All() {
		o, ok := n.Op.(ir.Linked)
		if !ok {
			continue
		}
		linked, err := o.Link(m.Func)
		if err != nil {
			return fmt.Errorf("%s: %w", n, err)
		}
		n.Op = linked
	}
	return nil
}

// Named returns the names of the functions in m that compute gradients of custom operators, as a set.
func Named(m *ir.Module) map[string]bool {
	named := map[string]bool{}
	for _, f := range m.Funcs {
		for n := range f.All() {
			if c, ok := n.Op.(op.Custom); ok && c.Gradient != "" {
				named[c.Gradient] = true
			}
		}
	}
	return named
}

// Forget removes the functions that [Named] returns from m. It also removes their names from the nodes of m, so m
// cannot be differentiated afterwards.
func Forget(m *ir.Module) {
	named := Named(m)
	m.Funcs = slices.DeleteFunc(m.Funcs, func(f *ir.Func) bool { return named[f.Name] })
	for _, f := range m.Funcs {
		for n := range f.All() {
			if c, ok := n.Op.(op.Custom); ok {
				c.Gradient = ""
				n.Op = c
			}
		}
	}
}
