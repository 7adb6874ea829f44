package program

import (
	"github.com/burngen/burngen/ir"
)

// Parts splits the function called `name` into several functions and compiles them. The parts share only weights
// and constants, so that they can run at the same time. Their order is the order of their first results. The
// function is not split if it has parameters, if it checks extents, or if it has extents that are known only at run
// time. Parts returns nil if there is no such function.
func Parts(m *ir.Module, name string, target Target) ([]*Func, error) {
	f := m.Func(name)
	if f == nil {
		return nil, nil
	}
	split := partition{f: f, set: map[*ir.Node]*ir.Node{}, has: map[[2]*ir.Node]bool{}, parts: map[*ir.Node]*ir.Func{}}
	if !split.possible() {
		whole, err := Compile(m, name, target)
		return []*Func{whole}, err
	}
	c := &compiler{module: m, target: target, done: map[string]*Func{}, open: map[string]bool{}, early: map[string]bool{}}
	var parts []*Func
	for _, part := range split.run() {
		p, err := c.plan(part)
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// partition splits the function f into independent parts. One node of each part, the
// representative, stands for the part.
type partition struct {
	f *ir.Func
	// another node of the same part, nearer to the representative; missing for the representative
	set map[*ir.Node]*ir.Node
	// pairs of a representative and a weight or constant that its part already has
	has   map[[2]*ir.Node]bool
	parts map[*ir.Node]*ir.Func // the part of each representative
}

func (p *partition) possible() bool {
	if len(p.f.Params) > 0 {
		return false
	}
	for n := range p.f.All() {
		if _, binds := n.Op.(ir.Binder); binds || len(n.Results) == 0 {
			return false
		}
	}
	return true
}

func operands(n *ir.Node) []*ir.Node {
	var from []*ir.Node
	for _, a := range n.Args {
		if a != nil {
			from = append(from, a.Def)
		}
	}
	for _, b := range n.Blocks {
		for _, v := range b.Captured() {
			from = append(from, v.Def)
		}
	}
	return from
}

func (p *partition) of(n *ir.Node) *ir.Node {
	for p.set[n] != nil {
		if next := p.set[p.set[n]]; next != nil {
			p.set[n] = next
		}
		n = p.set[n]
	}
	return n
}

// run returns the parts, in the order of their first results.
func (p *partition) run() []*ir.Func {
	for _, n := range p.f.Nodes {
		for _, from := range operands(n) {
			if a, b := p.of(n), p.of(from); a != b && !from.IsStored() {
				p.set[b] = a
			}
		}
	}
	var order []*ir.Func
	for i, r := range p.f.Results {
		root := p.of(r.Def)
		part := p.parts[root]
		if part == nil {
			part = &ir.Func{Name: p.f.Name, Scope: p.f.Scope}
			p.parts[root] = part
			order = append(order, part)
			if root.IsStored() {
				part.Nodes = []*ir.Node{root}
			}
		}
		part.Results, part.ResultNames = append(part.Results, r), append(part.ResultNames, p.f.ResultNames[i])
	}
	for _, n := range p.f.Nodes {
		root := p.of(n)
		part := p.parts[root]
		if part == nil || n.IsStored() {
			continue
		}
		for _, from := range operands(n) {
			if key := [2]*ir.Node{root, from}; from.IsStored() && !p.has[key] {
				p.has[key] = true
				part.Nodes = append(part.Nodes, from)
			}
		}
		part.Nodes = append(part.Nodes, n)
	}
	return order
}
