package pass

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// outlineRegions moves the nodes of the blocks of control flow to new functions. A block then only
// calls its function. The values that the block reads from outside become parameters, except
// constants, weights and extents, which the function loads itself.
func outlineRegions(_ *Context, m *ir.Module) (changed bool, err error) {
	for _, f := range slices.Clone(m.Funcs) {
		f.Prune()
		for n := range f.All() {
			if _, ok := n.Op.(ir.RegionOp); !ok || isFused(n.Op) {
				continue
			}
			for i, b := range n.Blocks {
				if isCall(b) {
					continue
				}
				if err := outlineRegion(m, f, n, i); err != nil {
					return changed, fmt.Errorf("%s: %w", n, err)
				}
				changed = true
			}
		}
	}
	return changed, nil
}

func isCall(b *ir.Block) bool {
	if len(b.Nodes) != 1 || !slices.Equal(b.Results, b.Nodes[0].Results) {
		return false
	}
	_, ok := b.Nodes[0].Op.(ir.Invoke)
	return ok
}

func outlineRegion(m *ir.Module, f *ir.Func, n *ir.Node, i int) error {
	block := n.Blocks[i]
	name := "body"
	if len(n.Blocks) == 2 {
		name = []string{"then", "otherwise"}[i]
	}
	for k, base := 2, name; m.Func(name) != nil; k++ {
		name = fmt.Sprint(base, k)
	}
	captured := block.Captured()
	scope := append(block.FreeSymbols(), symbolsOfGiven(captured)...)
	slices.Sort(scope)
	scope = slices.Compact(scope)
	if s, ok := n.Op.(ir.Scoper); ok {
		scope = slices.DeleteFunc(scope, func(sym string) bool { return slices.Contains(s.Scope(), sym) })
	}
	callee := &ir.Func{Name: name, Scope: scope}
	var taken []*ir.Value // captured values that become parameters
	err := ir.Try(func() {
		b := ir.NewBuilder(callee)
		whole := &ir.Block{Params: append(slices.Clone(block.Params), captured...), Nodes: block.Nodes, Results: block.Results}
		args := make([]*ir.Value, len(whole.Params))
		for k, v := range block.Params {
			args[k] = b.Param(v.Name, v.Type)
		}
		for k, v := range captured {
			if !isGiven(v) {
				taken = append(taken, v)
				args[len(block.Params)+k] = b.Param(v.Name, v.Type)
			}
		}
		for k, v := range captured {
			if isGiven(v) {
				args[len(block.Params)+k] = b.Node(v.Def.Op)
			}
		}
		b.Return(b.Inline(whole, args, "")...)
	})
	if err != nil {
		return err
	}
	for k := range callee.Results {
		callee.ResultNames = append(callee.ResultNames, fmt.Sprint("result", k+1))
	}
	m.Funcs = append(m.Funcs, callee)
	call := &ir.Node{Args: append(slices.Clone(block.Params), taken...), Pos: n.Pos}
	names := namesOf(f)
	op := ir.Invoke{Func: name}
	for _, s := range scope {
		op.Scope = append(op.Scope, dim.Sym(s))
	}
	inside := callee.Block.BoundSymbols()
	for k, r := range block.Results {
		t := r.Type
		if t.IsTensor() {
			t.Shape = slices.Clone(t.Shape)
		}
		for axis, d := range t.Shape {
			if slices.ContainsFunc(d.Symbols(), func(s string) bool { return inside[s] }) {
				e := ir.ResultExtent{Symbol: fmt.Sprintf("%s.%d_%d", name, k, axis), Result: k, Axis: axis}
				op.Extents, t.Shape[axis] = append(op.Extents, e), dim.Sym(e.Symbol)
			}
		}
		op.Types = append(op.Types, t)
		call.Results = append(call.Results, &ir.Value{Name: freshName(names, r.Name), Type: t, Def: call, Index: k})
	}
	call.Op = op
	n.Blocks[i] = &ir.Block{Params: block.Params, Nodes: []*ir.Node{call}, Results: slices.Clone(call.Results)}
	return nil
}

// isGiven reports whether v is a constant, a weight or extents. Any function can compute such a
// value itself, without parameters.
func isGiven(v *ir.Value) bool {
	if v.Def == nil {
		return false
	}
	_, extents := v.Def.Op.(ir.Extents)
	return extents || v.Def.IsStored()
}

// symbolsOfGiven returns the symbols of the captured values for which [isGiven] is true. The
// outlined function computes these values itself.
func symbolsOfGiven(captured []*ir.Value) []string {
	b := &ir.Block{}
	for _, v := range captured {
		if isGiven(v) {
			b.Nodes = append(b.Nodes, v.Def)
		}
	}
	return b.FreeSymbols()
}

func namesOf(f *ir.Func) map[string]bool {
	names := map[string]bool{}
	note := func(values []*ir.Value) {
		for _, v := range values {
			names[v.Name] = true
		}
	}
	note(f.Params)
	for n := range f.All() {
		note(n.Results)
		for _, b := range n.Blocks {
			note(b.Params)
		}
	}
	return names
}

func freshName(names map[string]bool, hint string) string {
	name := hint
	for k := 2; names[name]; k++ {
		name = fmt.Sprintf("%s.%d", hint, k)
	}
	names[name] = true
	return name
}
