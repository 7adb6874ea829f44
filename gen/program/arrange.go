package program

import (
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/plan"
)

// arrange returns the steps of a planned function in order. steps holds the steps of each node, and
// then the steps of the results. arrange adds the plan's allocations, and drops copies of memory to
// itself.
func arrange(p *plan.Plan, steps [][]Step) []Step {
	var out []Step
	add := func(list ...Step) {
		for _, s := range list {
			if c, ok := s.(*Copy); !ok || !c.To.Place.Same(c.From.Place) {
				out = append(out, s)
			}
		}
	}
	room := allocations(p)
	for i, n := range p.Func.Nodes {
		allocate := func(late bool) { // the node's memory may need the symbols that it binds
			for _, k := range room[i] {
				if t := p.Tails[k]; late == (t.First == i && bindsAny(n, t.Elems.Symbols())) {
					add(&Alloc{Node: n, Buffer: t, Index: k})
				}
			}
		}
		binds := len(steps[i]) // the number of steps up to the last that binds
		for binds > 0 && !isBind(steps[i][binds-1]) {
			binds--
		}
		allocate(false)
		add(steps[i][:binds]...)
		allocate(true)
		for _, v := range p.Variables {
			if v.First == i && v.Type.IsTensor() && !v.Boxed {
				add(&Hold{Node: n, Variable: v})
			}
		}
		add(steps[i][binds:]...)
	}
	for k, s := range steps[len(p.Func.Nodes)] {
		if shape := p.Func.Results[k].Type; p.IsLate(shape) {
			add(&Resize{Index: k, Shape: shape.Shape})
		}
		add(s)
	}
	return out
}

func isBind(s Step) bool { _, ok := s.(*Bind); return ok }

// allocations finds the buffers whose size is known only at run time. It maps the index of a node to the buffers that
// are allocated before the node, as indices in [plan.Plan.Tails]. A node of the model, such as a Resize, may have
// become several nodes. The buffer of the last of them is then allocated as soon as its extents are known and
// checked, so that a size that is too large is reported before the other nodes compute anything.
func allocations(p *plan.Plan) map[int][]int {
	out := map[int][]int{}
	for k, t := range p.Tails {
		symbols, nodes := t.Elems.Symbols(), p.Func.Nodes
		at, pos := t.First, nodes[t.First].Pos
		for at > 0 && nodes[at-1].Pos == pos && !bindsAny(nodes[at], symbols) && !bindsAny(nodes[at-1], symbols) {
			at--
		}
		for at < t.First && isCheck(nodes[at]) {
			at++
		}
		out[at] = append(out[at], k)
	}
	return out
}

func bindsAny(n *ir.Node, symbols []string) bool {
	o, ok := n.Op.(ir.Binder)
	return ok && slices.ContainsFunc(o.Binds(), func(s string) bool { return slices.Contains(symbols, s) })
}

// isCheck reports whether n computes nothing: n is a check of extents, a weight or a constant.
func isCheck(n *ir.Node) bool {
	_, check := n.Op.(ir.CheckDim)
	return check || n.IsStored()
}
