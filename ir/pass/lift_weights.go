package pass

import (
	"slices"

	"github.com/burngen/burngen/ir"
)

// liftWeights looks at functions that are the bodies of control flow, for example of a loop. It
// moves the nodes that depend only on weights from such a function to its caller, which passes
// their results as parameters. The pass split_prepare may then move these nodes to @prepare, so
// that they are computed only once.
func liftWeights(_ *Context, m *ir.Module) (changed bool, err error) {
	for _, f := range m.Funcs { // functions that others call come first
		if caller, block := callOf(m, f.Name); caller != nil {
			lifted, err := liftFrom(f, caller, block)
			if err != nil {
				return changed, err
			}
			changed = changed || lifted
		}
	}
	return changed, nil
}

// callOf finds the first node that has a block which only calls the function `name`. It returns the
// node, and the function that contains the node. Both are nil if there is no such node.
func callOf(m *ir.Module, name string) (*ir.Func, *ir.Node) {
	for _, f := range m.Funcs {
		for n := range f.All() {
			for _, b := range n.Blocks {
				if isCall(b) && b.Nodes[0].Op.(ir.Invoke).Func == name {
					return f, n
				}
			}
		}
	}
	return nil, nil
}

// liftFrom moves nodes from f to `caller`: the nodes that depend only on weights. They are inserted
// before node n, which has a block that calls f. liftFrom reports whether it moved any.
func liftFrom(f, caller *ir.Func, n *ir.Node) (changed bool, err error) {
	known := fixed{}
	var lifted []*ir.Value
	use := func(values []*ir.Value) {
		for _, v := range values {
			if v == nil || !known.has(v) || slices.Contains(lifted, v) {
				continue
			}
			if _, constant := v.Def.Op.(ir.Constant); !constant {
				lifted = append(lifted, v)
			}
		}
	}
	for m := range f.All() {
		if len(m.Results) == 0 || !known.has(m.Results[0]) {
			use(m.Args)
		}
		for _, b := range m.Blocks {
			use(b.Results)
		}
	}
	use(f.Results)
	if len(lifted) == 0 {
		return false, nil
	}
	cone := &ir.Block{Nodes: coneOf(f, lifted), Results: lifted}
	var moved []*ir.Value
	if _, err := caller.Rewrite(func(b *ir.Builder, m *ir.Node) []*ir.Value {
		if m == n {
			moved = b.Inline(cone, nil, "")
		}
		return nil
	}); err != nil {
		return false, err
	}
	replaced := map[*ir.Value]*ir.Value{}
	names := namesOf(f)
	for _, v := range lifted {
		p := &ir.Value{Name: freshName(names, v.Name), Type: v.Type, Index: len(f.Params)}
		f.Params = append(f.Params, p)
		replaced[v] = p
	}
	f.ReplaceUses(replaced)
	f.Prune()
	for _, b := range n.Blocks {
		if isCall(b) && b.Nodes[0].Op.(ir.Invoke).Func == f.Name {
			b.Nodes[0].Args = append(b.Nodes[0].Args, moved...)
		}
	}
	return true, nil
}

func coneOf(f *ir.Func, values []*ir.Value) []*ir.Node {
	needed := map[*ir.Node]bool{}
	var need func(v *ir.Value)
	need = func(v *ir.Value) {
		if v == nil || v.Def == nil || needed[v.Def] {
			return
		}
		needed[v.Def] = true
		for _, a := range v.Def.Args {
			need(a)
		}
	}
	for _, v := range values {
		need(v)
	}
	var nodes []*ir.Node
	for _, n := range f.Nodes {
		if needed[n] {
			nodes = append(nodes, n)
		}
	}
	return nodes
}
