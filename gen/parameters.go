package gen

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// Parameters returns the names of the trainable weights of an imported model's function, in the order of their use. A
// float weight is trainable in two cases. In the first case, an operator with parameters uses it as a parameter: a
// product, a normalisation, an embedding, a recurrent network or a custom operator. Operators between the weight and
// this operator may only move, concatenate or cast elements. In the second case, the weight has one extent that is
// not 1, and is added to a value, or multiplied with a value, that depends on the result of an operator with
// parameters.
func Parameters(f *ir.Func) []string {
	p := &parameters{weights: map[*ir.Value][]string{}, after: map[*ir.Value]bool{}, found: map[string]bool{}}
	for _, n := range f.Nodes {
		p.node(n)
	}
	return p.names
}

type parameters struct {
	weights map[*ir.Value][]string // values that are weights, or moved and joined weights
	after   map[*ir.Value]bool     // values that depend on the result of a parametric operator
	found   map[string]bool
	names   []string
}

func (p *parameters) node(n *ir.Node) {
	if l, ok := n.Op.(ir.Load); ok {
		if l.Type.DType.IsFloat() {
			p.weights[n.Results[0]] = []string{l.Name}
		}
		return
	}
	if from := p.moved(n); from != nil {
		for _, r := range n.Results {
			p.weights[r] = from
		}
		return
	}
	for i, a := range n.Args {
		if op.IsParameter(n, i) || isAffine(n.Op) && oneAxis(a.Type) && p.after[n.Arg(1-min(i, 1))] {
			p.add(p.weights[a])
		}
	}
	after := op.IsParametric(n.Op)
	for _, a := range n.Args {
		after = after || p.after[a]
	}
	for _, block := range n.Blocks {
		for _, inner := range block.Nodes {
			p.node(inner)
		}
	}
	for _, r := range n.Results {
		p.after[r] = after
	}
}

// moved returns the weights whose elements a node moves or concatenates. It returns nil if the node does more, or if
// one of the concatenated operands is not a weight.
func (p *parameters) moved(n *ir.Node) (from []string) {
	if op.IsMove(n.Op) {
		return p.weights[n.Arg(0)]
	}
	if op.MovementOf(n.Op) != op.Joins {
		return nil
	}
	seen := map[string]bool{}
	for _, a := range n.Args {
		if p.weights[a] == nil {
			return nil
		}
		for _, name := range p.weights[a] {
			if !seen[name] {
				seen[name] = true
				from = append(from, name)
			}
		}
	}
	return from
}

func (p *parameters) add(names []string) {
	for _, name := range names {
		if !p.found[name] {
			p.found[name] = true
			p.names = append(p.names, name)
		}
	}
}

func isAffine(o ir.Op) bool {
	_, ok := o.(op.Affine)
	return ok
}

// oneAxis reports whether exactly one extent is not 1. A symbolic extent is not 1.
func oneAxis(t ir.Type) bool {
	wide := 0
	for _, d := range t.Shape {
		if n, ok := d.Int(); !ok || n != 1 {
			wide++
		}
	}
	return wide == 1
}
