package pass

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

const (
	// maxPointwiseOperands and maxPointwiseOps limit a fused region. A kernel computes a region for a few elements
	// at a time. The operands and intermediate results of these elements must fit the first-level cache.
	maxPointwiseOperands = 6
	maxPointwiseOps      = 8
	// maxCopies limits copies: an operator with up to maxCopies readers may be fused into each of them. Each reader
	// then computes the operator itself. An operator with more readers is computed once.
	maxCopies = 3
)

// fusePointwise fuses a pointwise node into the pointwise node that reads its result. The two must
// have the same shape, and the result must have no other reader. A node with one cheap operator on
// one tensor is also fused if it has a few readers: each reader then computes the operator itself.
func fusePointwise(ctx *Context, m *ir.Module) (changed bool, err error) {
	for _, f := range m.Funcs {
		c, err := fuseLoops(ctx, f)
		if err != nil {
			return changed, fmt.Errorf("@%s: %w", f.Name, err)
		}
		changed = changed || c
	}
	return changed, nil
}

func fuseLoops(ctx *Context, f *ir.Func) (changed bool, err error) {
	p := &fuser{ctx: ctx, uses: f.Uses(), home: homes(f)}
	p.cheap = p.copied(f)
	changed, err = f.Rewrite(p.visit)
	f.Prune()
	return changed, err
}

type fuser struct {
	ctx   *Context
	uses  map[*ir.Value]int
	home  map[*ir.Node]*ir.Block
	cheap map[*ir.Node]bool // nodes that are fused into each of their readers
}

// copied returns the nodes that can be fused into all of their readers. Such a node has a single
// cheap operator and at most maxCopies readers.
func (p *fuser) copied(f *ir.Func) map[*ir.Node]bool {
	readers := map[*ir.Value]int{} // fitting ones
	for n := range f.All() {
		if _, ok := n.Op.(op.Pointwise); !ok {
			continue
		}
		for i, a := range n.Args {
			if p.fits(a, n) && !slices.Contains(n.Args[:i], a) {
				readers[a]++
			}
		}
	}
	cheap := map[*ir.Node]bool{}
	for n := range f.All() {
		if _, ok := n.Op.(op.Pointwise); !ok || len(n.Args) != 1 || operatorsIn(n.Blocks[0]) != 1 {
			continue
		}
		region := n.Blocks[0]
		_, isCheap := region.Nodes[len(region.Nodes)-1].Op.(op.Cheap)
		if uses := p.uses[n.Results[0]]; isCheap && uses == readers[n.Results[0]] && uses <= maxCopies {
			cheap[n] = true
		}
	}
	return cheap
}

// fits reports whether `a`, an operand of n, may be fused into n: it must be the result of a
// pointwise node in the same block, and have the shape of n's result.
func (p *fuser) fits(a *ir.Value, n *ir.Node) bool {
	if a == nil || a.Def == nil || len(a.Def.Results) != 1 || p.home[a.Def] != p.home[n] {
		return false
	}
	_, ok := a.Def.Op.(op.Pointwise)
	return ok && slices.EqualFunc(a.Type.Shape, n.Results[0].Type.Shape, dim.Dim.Equal)
}

func (p *fuser) visit(b *ir.Builder, n *ir.Node) []*ir.Value {
	if _, ok := n.Op.(op.Pointwise); !ok {
		return nil
	}
	at := n
	for {
		i := slices.IndexFunc(at.Args, func(a *ir.Value) bool { return p.mergeable(a, at) })
		if i < 0 {
			break
		}
		at = p.merge(b, at, i)
	}
	if at == n {
		return nil
	}
	for i, r := range at.Results {
		p.uses[r] = p.uses[n.Results[i]]
	}
	return at.Results
}

func (p *fuser) mergeable(a *ir.Value, n *ir.Node) bool {
	if !p.fits(a, n) || p.uses[a] != 1 && !p.cheap[a.Def] {
		return false
	}
	if operatorsIn(a.Def.Blocks[0])+operatorsIn(n.Blocks[0]) > maxPointwiseOps {
		return false
	}
	return len(mergedOperands(a, n)) <= maxPointwiseOperands
}

// mergedOperands returns the operands that n has after the node of `a`, one of its operands, is fused into it: the
// operands of this node replace a. Each value appears once.
func mergedOperands(a *ir.Value, n *ir.Node) []*ir.Value {
	var args []*ir.Value
	for _, v := range n.Args {
		more := []*ir.Value{v}
		if v == a {
			more = a.Def.Args
		}
		for _, v := range more {
			if !slices.Contains(args, v) {
				args = append(args, v)
			}
		}
	}
	return args
}

func (p *fuser) merge(b *ir.Builder, n *ir.Node, i int) *ir.Node {
	a := n.Args[i]
	args := mergedOperands(a, n)
	region := b.Block(func(b *ir.Builder) {
		params := map[*ir.Value]*ir.Value{}
		for _, v := range args {
			params[v] = b.Param("p", ir.TensorOf(v.Type.DType))
		}
		inner := make([]*ir.Value, len(a.Def.Args))
		for k, v := range a.Def.Args {
			inner[k] = params[v]
		}
		made := b.Inline(a.Def.Blocks[0], inner, "")[0]
		outer := make([]*ir.Value, len(n.Args))
		for k, v := range n.Args {
			if outer[k] = params[v]; v == a {
				outer[k] = made
			}
		}
		b.Return(b.Inline(n.Blocks[0], outer, "")...)
	})
	p.ctx.Count(FusedPointwise, 1)
	b.At(JoinPos(a.Def.Pos, n.Pos))
	merged := b.NodeBlocks(op.Pointwise{}, []*ir.Block{region}, args...)[0].Def
	p.home[merged] = p.home[n]
	p.countUses(n.Args, -1)
	if p.uses[a] == 0 {
		p.countUses(a.Def.Args, -1)
	}
	p.countUses(args, 1)
	return merged
}

func (p *fuser) countUses(args []*ir.Value, delta int) {
	for _, v := range args {
		p.uses[v] += delta
	}
}
