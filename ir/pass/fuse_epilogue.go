package pass

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

const (
	maxChain = 8
	// maxChainOperands is the maximum number of tensors that the region of an epilogue reads, in addition to the
	// result so far.
	maxChainOperands = 2
)

// fuseEpilogue makes elementwise nodes part of the preceding convolution or matrix product, as its epilogue.
// Nothing else may read the result of that operator. An epilogue consists of these steps, in order: a bias, a sum
// with a tensor of the result's type, bounds, and a chain of operators. Each operator of the chain takes the result
// of the preceding step.
func fuseEpilogue(ctx *Context, m *ir.Module) (changed bool, err error) {
	for _, f := range m.Funcs {
		e := &epilogues{ctx: ctx, uses: f.Uses(), home: homes(f), order: map[*ir.Value]int{}}
		c, err := f.Rewrite(e.visit)
		if err != nil {
			return changed, fmt.Errorf("@%s: %w", f.Name, err)
		}
		f.Prune()
		changed = changed || c
	}
	return changed, nil
}

type epilogues struct {
	ctx   *Context
	uses  map[*ir.Value]int
	home  map[*ir.Node]*ir.Block
	order map[*ir.Value]int // index of each result whose node can have an epilogue, in order of execution
}

// host is a node that can have an epilogue. op is its operator, which includes the epilogue that it has now.
type host struct {
	op.Epilogue
	node *ir.Node
	op   op.EpilogueHost
}

func hostOf(v *ir.Value) (h host, ok bool) {
	if v == nil || v.Def == nil {
		return h, false
	}
	o, ok := v.Def.Op.(op.EpilogueHost)
	if !ok {
		return h, false
	}
	return host{o.Ending(), v.Def, o}, true
}

func (h host) y() *ir.Value { return h.node.Results[0] }

func (h host) plain() bool { return !h.Clamp && len(h.node.Blocks) == 0 }

func (e *epilogues) visit(b *ir.Builder, n *ir.Node) []*ir.Value {
	if _, ok := hostOf(first(n.Results)); ok {
		e.order[n.Results[0]] = len(e.order)
		return nil
	}
	if _, ok := n.Op.(op.Elementwise); !ok || n.Results[0].Type.DType != ir.F32 {
		return nil
	}
	h, ok := e.host(n)
	if !ok {
		return nil
	}
	for _, fuse := range []func(*ir.Builder, host, *ir.Node) *ir.Value{e.bias, e.residual, e.clamp, e.chain} {
		if y := fuse(b, h, n); y != nil {
			e.uses[y], e.order[y] = e.uses[n.Results[0]], len(e.order)
			e.home[y.Def] = e.home[n]
			return []*ir.Value{y}
		}
	}
	return nil
}

func first(values []*ir.Value) *ir.Value {
	if len(values) == 0 {
		return nil
	}
	return values[0]
}

// host returns a node into which n can be fused. The result of the node must be an operand of n that only n reads,
// and have the type of n's result. If there are several such nodes, host returns the one that is computed last.
func (e *epilogues) host(n *ir.Node) (best host, ok bool) {
	for _, a := range n.Args {
		h, isHost := hostOf(a)
		if isHost && e.uses[a] == 1 && e.home[h.node] == e.home[n] && a.Type.Equal(n.Results[0].Type) && (!ok || e.order[a] > e.order[best.y()]) {
			best, ok = h, true
		}
	}
	return best, ok
}

// JoinPos joins the source positions of two nodes that are fused.
func JoinPos(a, b string) string {
	if a == "" || a == b {
		return b
	}
	if b == "" {
		return a
	}
	return a + ", " + b
}

func (h host) operands(count int) []*ir.Value {
	args := slices.Clone(h.node.Args)
	for len(args) < count {
		args = append(args, nil)
	}
	return args
}

// addend returns the other operand if n adds it to the result of h. Otherwise it returns nil.
func addend(h host, n *ir.Node) *ir.Value {
	if _, ok := n.Op.(op.Add); !ok {
		return nil
	}
	if n.Args[0] == h.y() {
		return n.Args[1]
	}
	return n.Args[0]
}

// bias fuses n if n adds a vector to the result of h. The vector must have one element for each column or channel.
// bias returns the new result, or nil if n does not fit.
func (e *epilogues) bias(b *ir.Builder, h host, n *ir.Node) *ir.Value {
	v := addend(h, n)
	args := h.operands(op.BiasArg + 1)
	if v == nil || v.Type.Equal(h.y().Type) || args[op.BiasArg] != nil || len(args) > op.ResidualArg || !h.plain() {
		return nil
	}
	if args[op.BiasArg] = h.op.Bias(b, h.node, v); args[op.BiasArg] == nil {
		return nil
	}
	e.ctx.Count(FusedBiases, 1)
	return h.grow(b, n, h.Epilogue, nil, args)
}

// grow replaces h and n by one node and returns its result. The node has the epilogue e, the blocks `regions` and
// the operands args.
func (h host) grow(b *ir.Builder, n *ir.Node, e op.Epilogue, regions []*ir.Block, args []*ir.Value) *ir.Value {
	b.At(JoinPos(h.node.Pos, n.Pos))
	return b.NodeBlocks(h.op.WithEnding(e), regions, args...)[0]
}

// residual fuses n if n adds a tensor to the result of h. The tensor must have the result's type. residual returns
// the new result, or nil if n does not fit.
func (e *epilogues) residual(b *ir.Builder, h host, n *ir.Node) *ir.Value {
	v := addend(h, n)
	args := h.operands(op.ResidualArg + 1)
	if v == nil || !v.Type.Equal(h.y().Type) || args[op.ResidualArg] != nil || !h.plain() {
		return nil
	}
	args[op.ResidualArg] = v
	e.ctx.Count(FusedResiduals, 1)
	return h.grow(b, n, h.Epilogue, nil, args)
}

// clamp fuses n if it bounds the result of h, as Relu and Clip do. It returns the new result, or
// nil if n does not fit.
func (e *epilogues) clamp(b *ir.Builder, h host, n *ir.Node) *ir.Value {
	limits, ok := bounds(n.Op)
	if !ok || len(h.node.Blocks) > 0 {
		return nil
	}
	if h.Clamp {
		before := interval{float64(h.Lo), float64(h.Hi)}
		if before.Lo > before.Hi || limits.Lo > limits.Hi {
			return nil
		}
		limits = interval{limits.limit(before.Lo), limits.limit(before.Hi)}
	}
	if float64(float32(limits.Lo)) != limits.Lo || float64(float32(limits.Hi)) != limits.Hi {
		return nil
	}
	ep := op.Epilogue{Clamp: true, Lo: float32(limits.Lo), Hi: float32(limits.Hi)}
	e.ctx.Count(FusedActivations, 1)
	return h.grow(b, n, ep, nil, h.node.Args)
}

// chain makes n the last operator of the host's region, and creates the region if the host does not
// have one. It returns the new result, or nil if n does not fit.
func (e *epilogues) chain(b *ir.Builder, h host, n *ir.Node) *ir.Value {
	var region *ir.Block
	if len(h.node.Blocks) > 0 {
		region = h.node.Blocks[0]
	}
	if operatorsIn(region) >= maxChain {
		return nil
	}
	o := n.Op.(op.Elementwise)
	inside := e.ctx.scalarOperands(n)
	args := h.operands(op.MoreArgs)
	for i, a := range n.Args {
		switch {
		case inside[i], a == h.y():
		case a == nil || !a.Type.Equal(h.y().Type):
			return nil
		case !slices.Contains(args[op.MoreArgs:], a):
			args = append(args, a)
		}
	}
	if len(args) > op.MoreArgs+maxChainOperands {
		return nil
	}
	grown := b.Block(func(b *ir.Builder) {
		params := make([]*ir.Value, 1+len(args)-op.MoreArgs)
		for i := range params {
			params[i] = b.Param("p", ir.TensorOf(ir.F32))
		}
		at := params[0]
		if region != nil {
			at = b.Inline(region, params[:len(region.Params)], "")[0]
		}
		operands := make([]*ir.Value, len(n.Args))
		for i, a := range n.Args {
			switch {
			case inside[i]:
				t, _ := a.ConstValue()
				operands[i] = b.Const(single(t))
			case a == h.y():
				operands[i] = at
			default:
				operands[i] = params[1+slices.Index(args[op.MoreArgs:], a)]
			}
		}
		b.Return(b.Node(o, operands...))
	})
	e.ctx.Count(FusedChains, 1)
	return h.grow(b, n, h.Epilogue, []*ir.Block{grown}, args)
}

func operatorsIn(region *ir.Block) int {
	if region == nil {
		return 0
	}
	count := 0
	for _, n := range region.Nodes {
		if _, ok := n.Op.(ir.Constant); !ok {
			count++
		}
	}
	return count
}
