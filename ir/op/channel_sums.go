package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// ChannelSums is, as [2,C], for each channel the sum of g and that of g·(x − mean) over all
// images, of floats g and x of [N,C,spatial…] and means of [C].
type ChannelSums struct{ channels }

// Infer gives two numbers for each channel.
func (op ChannelSums) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 3, 3); err != nil {
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
	return []ir.Type{ir.TensorOf(d, ir.Const(2), c)}, nil
}

// Eval sums in float64.
func (op ChannelSums) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	of, c := op.of(in[0])
	sums := make([]float64, 2*c)
	x := numbersOf(in[1])
	for i, g := range numbersOf(in[0]) {
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
func (ChannelSums) Flops(in, _ []ir.Type) ir.Dim { return in[0].Elems().Mul(ir.Const(4)) }

// Grad is of g u + v·(x − mean), of x v·g, and of the means −v·Σ g, where u and v are the
// result's gradients of both sums.
func (op ChannelSums) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, want []bool) []*ir.Value {
	c, g, x := calculus{b}, n.Arg(0), n.Arg(1)
	mean := reshape(b, n.Arg(2), perChannel(x.Type.Shape[1], x.Type.Rank()-2)...)
	u, v := op.row(b, of[0], 0, x.Type), op.row(b, of[0], 1, x.Type)
	grads := make([]*ir.Value, 3)
	if want[0] {
		grads[0] = c.add(c.mul(c.sub(x, mean), v), u)
	}
	if want[1] {
		grads[1] = c.mul(g, v)
	}
	if want[2] {
		grads[2] = reshape(b, c.neg(c.mul(v, op.row(b, n.Results[0], 0, x.Type))), n.Arg(2).Type.Shape...)
	}
	return grads
}

// Lower makes what has no kernel of reductions.
func (op ChannelSums) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	if op.C > 0 {
		return nil
	}
	if out := lowerNarrow(b, n); out != nil {
		return out
	}
	c, g, x := calculus{b}, n.Arg(0), n.Arg(1)
	mean := reshape(b, n.Arg(2), perChannel(x.Type.Shape[1], x.Type.Rank()-2)...)
	axes := op.axes(x.Type)
	return []*ir.Value{op.stack(b, c.sum(g, true, axes...), c.sum(c.mul(g, c.sub(x, mean)), true, axes...))}
}

// Relayout reads blocked operands.
func (op ChannelSums) Relayout(b *ir.Builder, n *ir.Node, l Layouts) *ir.Value {
	args, c := op.relayout(l, n.Args[:2]...)
	if args == nil {
		return nil
	}
	return b.Node(ChannelSums{channels{c}}, append(args, n.Arg(2))...)
}

// Call is cpu.ChannelSums.
func (op ChannelSums) Call(n *ir.Node) (ir.Call, error) {
	sizes, err := op.sizes(n.Arg(0).Type)
	return ir.Call{Kernel: "ChannelSums", Args: append([]any{ir.Out(0), ir.In(0), ir.In(1), ir.In(2)}, sizes...)}, err
}
