package op

import "github.com/burngen/burngen/ir"

// ChannelMoments is, as [2,C], the mean and the variance of each channel of x, floats of
// [N,C,spatial…], over all images; the variance is that of a population.
type ChannelMoments struct{ channels }

// Infer gives two numbers for each channel.
func (op ChannelMoments) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 1, 1); err != nil {
		return nil, err
	}
	c, err := op.infer(in, 1)
	if err != nil {
		return nil, err
	}
	return []ir.Type{ir.TensorOf(in[0].DType, ir.Const(2), c)}, nil
}

// Eval sums in float64, the squares of what is left without the mean.
func (op ChannelMoments) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	of, c := op.of(x)
	y := ir.NewTensor(x.DType, 2, c)
	values, means, squares, count := numbersOf(x), make([]float64, c), make([]float64, c), make([]float64, c)
	each := func(f func(channel int, v float64)) {
		for i, v := range values {
			if channel := of(i); channel < c {
				f(channel, v)
			}
		}
	}
	each(func(channel int, v float64) {
		means[channel] += v
		count[channel]++
	})
	for i := range means {
		means[i] /= count[i]
	}
	each(func(channel int, v float64) {
		v -= means[channel]
		squares[channel] += float64(v * v)
	})
	for i, v := range means {
		y.SetFloat(i, v)
		y.SetFloat(c+i, squares[i]/count[i])
	}
	return []*ir.Tensor{y}, nil
}

// Flops counts three operations for each element.
func (ChannelMoments) Flops(in, _ []ir.Type) ir.Dim { return in[0].Elems().Mul(ir.Const(3)) }

// Grad is (m + 2·v·(x − mean))/count, where m and v are the result's gradients of the mean
// and of the variance, and count is the number of elements of a channel.
func (op ChannelMoments) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	c, x := calculus{b}, n.Arg(0)
	row := func(v *ir.Value, i int) *ir.Value { return op.row(b, v, i, x.Type) }
	count := op.count(c, x)
	m, v := c.div(row(of[0], 0), count), c.div(c.times(row(of[0], 1), 2), count)
	return []*ir.Value{c.add(c.mul(c.sub(x, row(n.Results[0], 0)), v), m)}
}

// count appends the number of elements of a channel of x.
func (channels) count(c calculus, x *ir.Value) *ir.Value {
	return c.extent(x, x.Type.Shape[0].Mul(ir.Product(x.Type.Shape[2:]...)))
}

// Lower makes what has no kernel of reductions.
func (op ChannelMoments) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	if op.C > 0 {
		return nil
	}
	if out := lowerNarrow(b, n); out != nil {
		return out
	}
	mean, variance := moments(b, n.Arg(0), op.axes(n.Arg(0).Type))
	return []*ir.Value{op.stack(b, mean, variance)}
}

// Relayout reads a blocked operand.
func (op ChannelMoments) Relayout(b *ir.Builder, n *ir.Node, l Layouts) *ir.Value {
	args, c := op.relayout(l, n.Args...)
	if args == nil {
		return nil
	}
	return b.Node(ChannelMoments{channels{c}}, args...)
}

// Call is cpu.ChannelMoments.
func (op ChannelMoments) Call(n *ir.Node) (ir.Call, error) {
	sizes, err := op.sizes(n.Arg(0).Type)
	return ir.Call{Kernel: "ChannelMoments", Args: append([]any{ir.Out(0), ir.In(0)}, sizes...)}, err
}
