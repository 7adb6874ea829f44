package op

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// ChannelMoments returns the mean and the population variance of each channel, over all images and positions. x is
// of floats, [N,C,spatial…], and the result is [2,C].
type ChannelMoments struct{ Channels }

// Infer returns [2,C].
func (op ChannelMoments) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	c, err := op.infer(in, 1)
	if err != nil {
		return nil, err
	}
	return []ir.Type{ir.TensorOf(in[0].DType, dim.Const(2), c)}, nil
}

// Eval returns the mean and the variance of each channel, [2,C]. It sums in float64, and subtracts the mean before
// it sums squares.
func (op ChannelMoments) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	of, c := op.of(x)
	y := ir.NewTensor(x.DType, 2, c)
	values, means, squares, count := NumbersOf(x), make([]float64, c), make([]float64, c), make([]float64, c)
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
func (ChannelMoments) Flops(in, _ []ir.Type) dim.Dim { return in[0].Elems().Mul(dim.Const(3)) }

// Grad returns the gradient of x: (m + 2·v·(x − mean))/count. m and v are the gradients of mean and variance, and
// count is the number of elements of a channel.
func (op ChannelMoments) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	c, x := calculus{b}, n.Arg(0)
	row := func(v *ir.Value, i int) *ir.Value { return op.row(b, v, i, x.Type) }
	count := op.count(c, x)
	m, v := c.div(row(dy[0], 0), count), c.div(c.times(row(dy[0], 1), 2), count)
	return []*ir.Value{c.add(c.mul(c.sub(x, row(n.Results[0], 0)), v), m)}
}

func (Channels) count(c calculus, x *ir.Value) *ir.Value {
	return c.extent(x, x.Type.Shape[0].Mul(dim.Product(x.Type.Shape[2:]...)))
}

// IsWhole marks the operator as [Whole], because a kernel reads x fewer times than the operators that Lower
// returns.
func (ChannelMoments) IsWhole() {}

// Lower replaces the node by reductions of x and of (x − mean)² if x is planar, and not channel-blocked.
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
