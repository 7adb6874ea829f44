package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// ChannelMix is a·g + b·x + c of floats g and x of [N,C,spatial…], where the factors, [3,C],
// have an a, a b and a c for each channel.
type ChannelMix struct{ channels }

// Infer gives the type of g.
func (op ChannelMix) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 3, 3); err != nil {
		return nil, err
	}
	c, err := op.infer(in, 2)
	if err != nil {
		return nil, err
	}
	if factors := ir.TensorOf(in[0].DType, ir.Const(3), c); !in[2].Equal(factors) {
		return nil, fmt.Errorf("factors %s, %s expected", in[2], factors)
	}
	return in[:1], nil
}

// Eval computes in float64.
func (op ChannelMix) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	of, c := op.of(in[0])
	g, x, factors := numbersOf(in[0]), numbersOf(in[1]), numbersOf(in[2])
	y := ir.NewTensor(in[0].DType, in[0].Shape...)
	for i := range g {
		if k := of(i); k < c {
			y.SetFloat(i, float64(factors[k]*g[i])+float64(factors[c+k]*x[i])+factors[2*c+k])
		}
	}
	return []*ir.Tensor{y}, nil
}

// Overwrites lists g and x.
func (ChannelMix) Overwrites() []int { return []int{0, 1} }

// Flops counts four operations for each element.
func (ChannelMix) Flops(in, _ []ir.Type) ir.Dim { return in[0].Elems().Mul(ir.Const(4)) }

// Grad is of g a·s, of x b·s, and of the factors the sums of s·g, s·x and s, where s is the
// result's.
func (op ChannelMix) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, want []bool) []*ir.Value {
	c, g, x, s := calculus{b}, n.Arg(0), n.Arg(1), of[0]
	grads := make([]*ir.Value, 3)
	for i := range 2 {
		if want[i] {
			grads[i] = c.mul(s, op.row(b, n.Arg(2), i, x.Type))
		}
	}
	if want[2] {
		axes := op.axes(x.Type)
		grads[2] = op.stack(b, c.sum(c.mul(s, g), true, axes...), c.sum(c.mul(s, x), true, axes...), c.sum(s, true, axes...))
	}
	return grads
}

// Lower makes what has no kernel of products and sums.
func (op ChannelMix) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	if op.C > 0 {
		return nil
	}
	if out := lowerNarrow(b, n); out != nil {
		return out
	}
	c, g, x := calculus{b}, n.Arg(0), n.Arg(1)
	row := func(i int) *ir.Value { return op.row(b, n.Arg(2), i, x.Type) }
	return []*ir.Value{c.add(c.add(c.mul(g, row(0)), c.mul(x, row(1))), row(2))}
}

// Relayout computes on blocked operands.
func (op ChannelMix) Relayout(b *ir.Builder, n *ir.Node, l Layouts) *ir.Value {
	args, c := op.relayout(l, n.Args[:2]...)
	if args == nil {
		return nil
	}
	return b.Node(ChannelMix{channels{c}}, append(args, n.Arg(2))...)
}

// Call is cpu.ChannelMix.
func (op ChannelMix) Call(n *ir.Node) (ir.Call, error) {
	sizes, err := op.sizes(n.Arg(0).Type)
	return ir.Call{Kernel: "ChannelMix", Args: append([]any{ir.Out(0), ir.In(0), ir.In(1), ir.In(2)}, sizes...)}, err
}
