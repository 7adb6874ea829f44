package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// ChannelMix computes a·g + b·x + c for floats g and x of [N,C,spatial…]. The third operand, [3,C],
// holds a, b and c for each channel.
type ChannelMix struct{ Channels }

// Infer returns the type of g.
func (op ChannelMix) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 3, 3); err != nil {
		return nil, err
	}
	c, err := op.infer(in, 2)
	if err != nil {
		return nil, err
	}
	if factors := ir.TensorOf(in[0].DType, dim.Const(3), c); !in[2].Equal(factors) {
		return nil, fmt.Errorf("factors %s, %s expected", in[2], factors)
	}
	return in[:1], nil
}

// Eval returns a·g + b·x + c in the shape of g, computed in float64.
func (op ChannelMix) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	of, c := op.of(in[0])
	g, x, factors := NumbersOf(in[0]), NumbersOf(in[1]), NumbersOf(in[2])
	y := ir.NewTensor(in[0].DType, in[0].Shape...)
	for i := range g {
		if k := of(i); k < c {
			y.SetFloat(i, float64(factors[k]*g[i])+float64(factors[c+k]*x[i])+factors[2*c+k])
		}
	}
	return []*ir.Tensor{y}, nil
}

// Overwrites returns the indices of g and x, whose memory the result may reuse.
func (ChannelMix) Overwrites() []int { return []int{0, 1} }

// Flops counts four operations for each element.
func (ChannelMix) Flops(in, _ []ir.Type) dim.Dim { return in[0].Elems().Mul(dim.Const(4)) }

// Grad returns a·dy for g, and b·dy for x. For the third operand it returns the sums of dy·g, dy·x and dy over each
// channel.
func (op ChannelMix) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, want []bool) []*ir.Value {
	c, g, x, s := calculus{b}, n.Arg(0), n.Arg(1), dy[0]
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

// Lower replaces the node by products and sums if the operands are planar, and not channel-blocked.
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
