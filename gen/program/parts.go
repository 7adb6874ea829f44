package program

import (
	"github.com/burngen/burngen/ir"
)

// Parts compiles a function without parameters as several, each of which computes results
// that share nothing with others but weights and constants, in the order of their first
// results. It is a single one where extents are checked or known only while it runs.
func Parts(m *ir.Module, name string) ([]*Func, error) {
	f := m.Func(name)
	if f == nil {
		return nil, nil
	}
	split := partition{f: f, set: map[*ir.Node]*ir.Node{}, has: map[[2]*ir.Node]bool{}, parts: map[*ir.Node]*ir.Func{}}
	if !split.possible() {
		whole, err := Compile(m, name)
		return []*Func{whole}, err
	}
	c := &compiler{module: m, done: map[string]*Func{}, open: map[string]bool{}, early: map[string]bool{}}
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

// partition takes a function apart.
type partition struct {
	f     *ir.Func
	set   map[*ir.Node]*ir.Node // another node of the same part, unless it stands for it
	has   map[[2]*ir.Node]bool  // leaves that a part has
	parts map[*ir.Node]*ir.Func // by the node that stands for it
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

// isLeaf reports whether a node only names a weight or a constant.
func isLeaf(n *ir.Node) bool {
	switch n.Op.(type) {
	case ir.Load, ir.Constant:
		return true
	}
	return false
}

// operands returns the nodes that make what a node of the function reads.
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

// of returns the node that stands for a node's part.
func (p *partition) of(n *ir.Node) *ir.Node {
	for p.set[n] != nil {
		if next := p.set[p.set[n]]; next != nil {
			p.set[n] = next
		}
		n = p.set[n]
	}
	return n
}

// run returns the parts.
func (p *partition) run() []*ir.Func {
	for _, n := range p.f.Nodes {
		for _, from := range operands(n) {
			if a, b := p.of(n), p.of(from); a != b && !isLeaf(from) {
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
			if isLeaf(root) {
				part.Nodes = []*ir.Node{root}
			}
		}
		part.Results, part.ResultNames = append(part.Results, r), append(part.ResultNames, p.f.ResultNames[i])
	}
	for _, n := range p.f.Nodes {
		root := p.of(n)
		part := p.parts[root]
		if part == nil || isLeaf(n) {
			continue
		}
		for _, from := range operands(n) {
			if key := [2]*ir.Node{root, from}; isLeaf(from) && !p.has[key] {
				p.has[key] = true
				part.Nodes = append(part.Nodes, from)
			}
		}
		part.Nodes = append(part.Nodes, n)
	}
	return order
}
