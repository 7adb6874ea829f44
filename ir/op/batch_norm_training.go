package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// BatchNormTraining is the training form of [BatchNormalization]: (x − mean)/√(variance + Epsilon)·scale + bias. x
// is of floats, [N,C,spatial…]. mean and variance are the mean and the population variance of each channel over N
// and the spatial axes. scale and bias are [C].
type BatchNormTraining struct{ Epsilon float64 }

// Infer returns the type of x.
func (op BatchNormTraining) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 3, 3); err != nil {
		return nil, err
	}
	c, err := Channels{}.infer(in, 1)
	if err != nil {
		return nil, err
	}
	for _, t := range in[1:] {
		if want := ir.TensorOf(in[0].DType, c); !t.Equal(want) {
			return nil, fmt.Errorf("%s, %s expected", t, want)
		}
	}
	return in[:1], nil
}

// Eval returns the normalised x, in x's shape, computed in float64.
func (op BatchNormTraining) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	both, err := ChannelMoments{}.Eval(in[:1])
	if err != nil {
		return nil, err
	}
	c := in[1].Len()
	row := func(first int) *ir.Tensor {
		r := ir.NewTensor(in[0].DType, c)
		for i := range c {
			r.Copy(i, both[0], first+i)
		}
		return r
	}
	return BatchNormalization{Epsilon: op.Epsilon}.Eval([]*ir.Tensor{in[0], in[1], in[2], row(0), row(c)})
}

// Flops counts five operations for each element.
func (BatchNormTraining) Flops(in, _ []ir.Type) dim.Dim { return in[0].Elems().Mul(dim.Const(5)) }

// Lower replaces the node by [ChannelMoments] and a [BatchNormalization] that uses these moments.
func (op BatchNormTraining) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	x, scale := n.Arg(0), n.Arg(1)
	mean, variance := channelMoments(b, x, scale.Type.Shape)
	return []*ir.Value{b.Node(BatchNormalization{Epsilon: op.Epsilon}, x, scale, n.Arg(2), mean, variance)}
}

// channelMoments appends the mean and the population variance of each channel of x. It reshapes both to shape.
func channelMoments(b *ir.Builder, x *ir.Value, shape []dim.Dim) (mean, variance *ir.Value) {
	both := b.Node(ChannelMoments{}, x)
	row := func(i int) *ir.Value {
		return ReshapeTo(b, sliceAxis(b, both, 0, dim.Const(i), dim.Const(1)), shape...)
	}
	return row(0), row(1)
}

// Grad returns the gradients of x, scale and bias:
//
//	dx     = r·scale·(dy − Σ dy/count − z·Σ dy·z/count)
//	dscale = Σ dy·z
//	dbias  = Σ dy
//
// where r = 1/√(variance + Epsilon) and z = r·(x − mean). Sums are over the elements of a channel, and count is the
// number of these elements.
func (op BatchNormTraining) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, want []bool) []*ir.Value {
	c, x, scale, g := calculus{b}, n.Arg(0), n.Arg(1), dy[0]
	mean, variance := channelMoments(b, x, scale.Type.Shape)
	sums := b.Node(ChannelSums{}, g, x, mean)
	row := func(i int) *ir.Value {
		return ReshapeTo(b, sliceAxis(b, sums, 0, dim.Const(i), dim.Const(1)), scale.Type.Shape...)
	}
	r := c.over(1, b.Node(Sqrt{}, c.plus(variance, op.Epsilon)))
	toScale := c.mul(row(1), r)
	grads := make([]*ir.Value, 3)
	if want[0] {
		count := Channels{}.count(c, x)
		s := c.mul(r, scale)
		by := c.neg(c.div(c.mul(c.mul(s, r), toScale), count))
		rest := c.neg(c.add(c.div(c.mul(s, row(0)), count), c.mul(by, mean)))
		grads[0] = b.Node(ChannelMix{}, g, x, Channels{}.stack(b, s, by, rest))
	}
	if want[1] {
		grads[1] = toScale
	}
	if want[2] {
		grads[2] = row(0)
	}
	return grads
}
