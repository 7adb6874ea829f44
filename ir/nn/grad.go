package nn

import (
	"cmp"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/grad"
)

// Grad returns the gradients of y with respect to wrt. Gradient i has the shape of wrt[i], and is zero if y does
// not depend on wrt[i]. If y is not a scalar, Grad differentiates the sum of its elements. Gradients are ordinary
// values and can be differentiated again. Grad panics with an [*Error] at an operator without a derivative.
func Grad(y Value, wrt ...Value) []Value {
	all := append([]Value{y}, wrt...)
	depends := dependents(y, wrt)
	f := &ir.Func{Name: "grad"}
	e := newEmitter(ir.NewBuilder(f), nil)
	var grads []*ir.Value
	err := ir.Try(func() {
		for _, v := range boundary(depends, all) {
			e.bring(v, "x")
		}
		values := e.values(all)
		var err error
		if grads, err = grad.Append(e.b, values[0], nil, values[1:]); err != nil {
			ir.FailWith(err)
		}
		env := map[*ir.Value]Value{}
		for p, v := range e.done {
			if p.i != there {
				env[e.b.Now(v)] = Value{n: p.n, i: p.i}
			}
		}
		// Loops that must record the state of each iteration are rebuilt.
		take(slices.DeleteFunc(slices.Clone(f.Nodes), func(n *ir.Node) bool {
			return !slices.ContainsFunc(n.Results, func(r *ir.Value) bool { _, ok := env[r]; return !ok })
		}), env)
		all = nil
		for _, g := range grads {
			all = append(all, env[e.b.Now(g)])
		}
	})
	if err != nil {
		fail("%v", err)
	}
	return all
}

// dependents returns the nodes on the paths from wrt to y. The node that produces wrt[i] is included only if it
// depends on another value of wrt.
func dependents(y Value, wrt []Value) map[*node]bool {
	depends, leaves := map[*node]bool{}, map[*node]bool{}
	for _, w := range wrt {
		w.typ()
		leaves[w.n] = true
	}
	y.typ()
	for _, n := range reachable([]*node{y.n}, func(*node) bool { return true }) {
		if slices.ContainsFunc(n.reads(), func(a Value) bool { return leaves[a.n] || depends[a.n] }) {
			depends[n] = true
		}
	}
	return depends
}

// boundary returns the inputs of a subgraph, in the order of creation. `nodes` are the nodes of the subgraph, and
// `values` are its results. An input is a value that the subgraph uses or returns but does not compute.
func boundary(nodes map[*node]bool, values []Value) []Value {
	seen := map[port]bool{}
	var out []Value
	note := func(v Value) {
		if p := v.port(); !nodes[v.n] && !seen[p] {
			seen[p] = true
			out = append(out, v)
		}
	}
	for n := range nodes {
		for _, a := range n.reads() {
			note(a)
		}
	}
	for _, v := range values {
		note(v)
	}
	slices.SortFunc(out, func(a, b Value) int {
		return cmp.Or(inOrder(a.n, b.n), cmp.Compare(a.i, b.i))
	})
	return out
}
