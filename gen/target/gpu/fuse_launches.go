package gpu

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/gen/target/gpu/launch"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/ir/pass"
)

// maxFusedOperands is the maximum number of operands of a fusion. It is small because a kernel may
// have only few arguments.
const maxFusedOperands = 10

// FuseLaunches is the pass that fuses a pointwise node with nodes that compute its operands. They become one
// [op.Fusion], which one launch computes. Any number of [op.StridedCopy] nodes can be fused: the kernel reads their
// operands instead. At most one other node can be fused: its kernel applies the pointwise operators to each element
// before it stores the element. A node is fused only if nothing else reads its result, because the result is not
// stored any more.
var FuseLaunches = pass.Pass{Name: "fuse_launches", Run: fuseLaunches}

func fuseLaunches(ctx *pass.Context, m *ir.Module) (bool, error) {
	changed := false
	for _, f := range m.Funcs {
		if f.Name == pass.Prepare { // the CPU's kernels compute it
			continue
		}
		l := &launches{ctx: ctx, uses: f.Uses(), order: map[*ir.Node]int{}}
		for i, n := range f.Nodes {
			l.order[n] = i
		}
		c, err := f.Rewrite(l.visit)
		if err != nil {
			return changed, fmt.Errorf("@%s: %w", f.Name, err)
		}
		f.Prune()
		changed = changed || c
	}
	return changed, nil
}

type launches struct {
	ctx   *pass.Context
	uses  map[*ir.Value]int
	order map[*ir.Node]int // of the nodes that are not in blocks
}

func (l *launches) visit(b *ir.Builder, n *ir.Node) []*ir.Value {
	if _, ok := n.Op.(op.Pointwise); !ok || len(n.Results) != 1 {
		return nil
	}
	parts := l.parts(n)
	if len(parts) == 0 {
		return nil
	}
	args, own := operandsOf(parts, n)
	if len(args) > maxFusedOperands {
		return nil
	}
	block := b.Block(func(b *ir.Builder) {
		inside := map[*ir.Value]*ir.Value{}
		for _, v := range args {
			inside[v] = b.Param("p", v.Type)
		}
		for _, part := range append(parts, n) {
			operands := make([]*ir.Value, len(part.Args))
			for i, v := range part.Args {
				operands[i] = inside[v]
			}
			made := b.Inline(&ir.Block{Params: part.Args, Nodes: []*ir.Node{part}, Results: part.Results}, operands, "")
			inside[part.Results[0]] = made[0]
		}
		b.Return(inside[n.Results[0]])
	})
	y := b.NodeBlocks(op.Fusion{Own: own}, []*ir.Block{block}, args...)
	if _, err := launch.Of(y[0].Def, launch.Options{}); err != nil {
		return nil
	}
	pos := n.Pos
	for _, part := range parts {
		pos = pass.JoinPos(part.Pos, pos)
	}
	y[0].Def.Pos = pos
	l.ctx.Count(pass.FusedChains, 1)
	return y
}

// parts returns the nodes that can be fused into n's kernel: any number of copies, and then at most one other node.
// Only n reads their results. If several other nodes are possible, parts takes the one that is computed last.
func (l *launches) parts(n *ir.Node) []*ir.Node {
	here, ok := l.order[n]
	if !ok {
		return nil
	}
	var parts []*ir.Node
	var host *ir.Node
	for _, a := range n.Args {
		if a.Def == nil || l.uses[a] != 1 || len(a.Def.Results) != 1 {
			continue
		}
		at, ok := l.order[a.Def]
		switch {
		case !ok || at >= here:
		case launch.Loads(a.Def.Op):
			parts = append(parts, a.Def)
		case !launch.Ends(a.Def.Op) || !slices.EqualFunc(a.Type.Shape, n.Results[0].Type.Shape, dim.Dim.Equal):
		case host == nil || at > l.order[host]:
			host = a.Def
		}
	}
	if host != nil {
		parts = append(parts, host)
	}
	return parts
}

// operandsOf returns the operands of a fusion of n with the nodes in parts. The operands of the parts come first, and
// count is their number.
func operandsOf(parts []*ir.Node, n *ir.Node) (args []*ir.Value, count int) {
	known := map[*ir.Value]bool{}
	add := func(list []*ir.Value) {
		for _, v := range list {
			if v != nil && !known[v] {
				known[v], args = true, append(args, v)
			}
		}
	}
	for _, part := range parts {
		known[part.Results[0]] = true
	}
	for _, part := range parts {
		add(part.Args)
	}
	count = len(args)
	add(n.Args)
	return args, count
}
