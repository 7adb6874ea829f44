package nn

import (
	"cmp"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/grad"
)

// Grad returns the gradients of a value with respect to others: for each a tensor of
// its shape, zero where the value does not depend on it. The gradient of a tensor is
// that of the sum of its elements. Gradients are values like others, which have
// gradients, too. It stops at an operator that has no derivative.
func Grad(of Value, wrt ...Value) []Value {
	all := append([]Value{of}, wrt...)
	depends := dependents(of, wrt)
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
		// Loops that have to keep what their trips begin with are made again.
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

// dependents returns the nodes that of is computed by, as far as they depend on wrt,
// without those that make wrt and do not depend on another of them.
func dependents(of Value, wrt []Value) map[*node]bool {
	depends, leaves := map[*node]bool{}, map[*node]bool{}
	for _, w := range wrt {
		w.typ()
		leaves[w.n] = true
	}
	of.typ()
	for _, n := range reachable([]*node{of.n}, func(*node) bool { return true }) {
		if slices.ContainsFunc(n.reads(), func(a Value) bool { return leaves[a.n] || depends[a.n] }) {
			depends[n] = true
		}
	}
	return depends
}

// boundary returns what nodes read, and what values are, that none of the nodes makes,
// in the order in which they were made.
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
