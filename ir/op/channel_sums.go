package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// ChannelSums returns two sums for each channel, over all images and positions: the sum of g and the sum of g·(x −
// mean). The result is [2,C]. g and x are floats of [N,C,spatial…], and the means are [C].
type ChannelSums struct{ Channels }

// Infer returns [2,C].
func (op ChannelSums) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 3, 3); err != nil {
		return nil, err
	}
	c, err := op.infer(in, 2)
	if err != nil {
		return nil, err
	}
	d := in[0].DType
	if means := ir.TensorOf(d, c); !in[2].Equal(means) {
		return nil, fmt.Errorf("means %s, %s expected", in[2], means)
	}
	return []ir.Type{ir.TensorOf(d, dim.Const(2), c)}, nil
}

// Eval returns the two sums of each channel, [2,C], computed in float64.
func (op ChannelSums) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	of, c := op.of(in[0])
	sums := make([]float64, 2*c)
	x := NumbersOf(in[1])
	for i, g := range NumbersOf(in[0]) {
		if channel := of(i); channel < c {
			sums[channel] += g
			sums[c+channel] += float64(g * (x[i] - in[2].Float(channel)))
		}
	}
	y := ir.NewTensor(in[0].DType, 2, c)
	for i, v := range sums {
		y.SetFloat(i, v)
	}
	return []*ir.Tensor{y}, nil
}

// Flops counts four operations for each element.
func (ChannelSums) Flops(in, _ []ir.Type) dim.Dim { return in[0].Elems().Mul(dim.Const(4)) }

// Grad returns u + v·(x − mean) for g, v·g for x, and −v·Σ g for the means. u and v are the gradients of the two
// sums.
func (op ChannelSums) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, want []bool) []*ir.Value {
	c, g, x := calculus{b}, n.Arg(0), n.Arg(1)
	mean := ReshapeTo(b, n.Arg(2), perChannel(x.Type.Shape[1], x.Type.Rank()-2)...)
	u, v := op.row(b, dy[0], 0, x.Type), op.row(b, dy[0], 1, x.Type)
	grads := make([]*ir.Value, 3)
	if want[0] {
		grads[0] = c.add(c.mul(c.sub(x, mean), v), u)
	}
	if want[1] {
		grads[1] = c.mul(g, v)
	}
	if want[2] {
		grads[2] = ReshapeTo(b, c.neg(c.mul(v, op.row(b, n.Results[0], 0, x.Type))), n.Arg(2).Type.Shape...)
	}
	return grads
}

// IsWhole marks the operator as [Whole], because a kernel reads g and x fewer times than the operators that Lower
// returns.
func (ChannelSums) IsWhole() {}

// Lower replaces the node by reductions of g and of g·(x − mean) if the operands are planar, and not
// channel-blocked.
func (op ChannelSums) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	if op.C > 0 {
		return nil
	}
	if out := lowerNarrow(b, n); out != nil {
		return out
	}
	c, g, x := calculus{b}, n.Arg(0), n.Arg(1)
	mean := ReshapeTo(b, n.Arg(2), perChannel(x.Type.Shape[1], x.Type.Rank()-2)...)
	axes := op.axes(x.Type)
	return []*ir.Value{op.stack(b, c.sum(g, true, axes...), c.sum(c.mul(g, c.sub(x, mean)), true, axes...))}
}
