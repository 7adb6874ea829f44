package ir

import (
	"errors"
	"fmt"
	"slices"
)

// Verify checks the invariants that every pass relies on:
//
//   - Names are unique, and results have names.
//   - A value is defined before it is used, and a symbol is bound before it is used.
//   - Types are the inferred types.
//   - Loads, calls and gradients match the weights and functions that they name.
//
// Verify returns the first violations, at most maxReports, as one error.
func Verify(m *Module) error {
	v := &verifier{module: m}
	weights, funcs := map[string]bool{}, map[string]bool{}
	for _, w := range m.Weights {
		if weights[w.Name] {
			v.report("weight %q is declared twice", w.Name)
		}
		weights[w.Name] = true
		if err := w.Type.Check(); err != nil {
			v.report("weight %q: %s: %w", w.Name, w.Type, err)
		} else if !w.Type.IsTensor() || !w.Type.IsStatic() {
			v.report("weight %q: %s is not a static tensor type", w.Name, w.Type)
		}
	}
	v.weights = map[string]Type{}
	for _, w := range m.Weights {
		v.weights[w.Name] = w.Type
	}
	for _, f := range m.Funcs {
		if funcs[f.Name] {
			v.report("function @%s is declared twice", f.Name)
		}
		funcs[f.Name] = true
		v.function(f)
	}
	return errors.Join(v.errs...)
}

type verifier struct {
	module  *Module
	weights map[string]Type
	errs    []error

	fn      *Func
	names   map[string]bool
	inScope map[*Value]bool
	bound   map[string]bool
}

const maxReports = 20 // largest number of violations that are reported

func (v *verifier) report(format string, args ...any) {
	if len(v.errs) < maxReports {
		v.errs = append(v.errs, fmt.Errorf(format, args...))
	}
}

func (v *verifier) nodeError(n *Node, format string, args ...any) {
	v.report("@%s: %s: %s", v.fn.Name, n.Text(), fmt.Sprintf(format, args...))
}

func (v *verifier) function(f *Func) {
	v.fn, v.names, v.inScope, v.bound = f, map[string]bool{}, map[*Value]bool{}, map[string]bool{}
	for _, s := range f.Scope {
		v.bound[s] = true
	}
	for _, p := range f.Params {
		for _, s := range SymbolsOf([]*Value{p}) {
			v.bound[s] = true
		}
	}
	if len(f.ResultNames) != len(f.Results) {
		v.report("@%s: %d result names for %d results", f.Name, len(f.ResultNames), len(f.Results))
	}
	v.block(&f.Block)
}

func (v *verifier) block(b *Block) {
	var local []*Value
	define := func(val *Value, def *Node) {
		if val.Def != def {
			v.report("@%s: %s does not name the node that makes it", v.fn.Name, val)
		}
		if v.names[val.Name] {
			v.report("@%s: %s is defined twice", v.fn.Name, val)
		}
		if err := val.Type.Check(); err != nil || val.Type.IsZero() {
			v.report("@%s: %s has no valid type %s: %v", v.fn.Name, val, val.Type, err)
		}
		v.names[val.Name], v.inScope[val] = true, true
		local = append(local, val)
	}
	for _, p := range b.Params {
		define(p, nil)
	}
	for _, n := range b.Nodes {
		for _, a := range n.Args {
			if a != nil && !v.inScope[a] {
				v.nodeError(n, "%s is not defined before it is used", a)
			}
		}
		if op, ok := n.Op.(Scoper); ok {
			for _, s := range op.Scope() {
				if v.bound[s] {
					v.nodeError(n, "binds %s again", s)
				}
				v.bound[s] = true
			}
		}
		for _, inner := range n.Blocks {
			v.block(inner)
		}
		v.node(n)
		for _, r := range n.Results {
			define(r, n)
		}
	}
	for _, r := range b.Results {
		if r == nil || !v.inScope[r] {
			v.report("@%s: result %s is not defined", v.fn.Name, r)
		}
	}
	for _, val := range local {
		delete(v.inScope, val)
	}
}

func (v *verifier) node(n *Node) {
	if b, ok := n.Op.(Binder); ok {
		for _, s := range b.Binds() {
			if v.bound[s] {
				v.nodeError(n, "binds %s again", s)
			}
			v.bound[s] = true
		}
	}
	unbound := func(s string) {
		if !v.bound[s] {
			v.nodeError(n, "symbol %s is not bound", s)
			v.bound[s] = true
		}
	}
	symbolsOf(n.Op, unbound)
	for _, s := range SymbolsOf(n.Results) {
		unbound(s)
	}
	types, err := Infer(n)
	if err != nil {
		v.nodeError(n, "%v", err)
		return
	}
	if !slices.EqualFunc(types, n.ResultTypes(), Type.Equal) {
		v.nodeError(n, "infers %v", types)
	}
	switch op := n.Op.(type) {
	case Load:
		if t, ok := v.weights[op.Name]; !ok || !t.Equal(op.Type) {
			v.nodeError(n, "the module has no weight %q of this type", op.Name)
		}
	case Linked:
		if _, err := op.Link(v.module.Func); err != nil {
			v.nodeError(n, "%v", err)
		}
	case Invoke:
		callee := v.module.Func(op.Func)
		if callee == nil {
			v.nodeError(n, "no function @%s", op.Func)
		} else if len(callee.Params) != len(n.Args) || len(callee.Results) != len(n.Results) {
			v.nodeError(n, "@%s takes %d values and returns %d", op.Func, len(callee.Params), len(callee.Results))
		} else {
			for i, s := range callee.Scope {
				if i >= len(op.Scope) || op.Scope[i].String() != s {
					v.nodeError(n, "@%s uses %s, which is not passed", op.Func, s)
				}
			}
		}
	}
}
