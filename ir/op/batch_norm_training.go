package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// BatchNormTraining is (x − mean)/√(variance + Epsilon)·scale + bias of floats x of
// [N,C,spatial…], where mean and variance are those of x's channels over all images, and
// scale and bias are of [C]: what a [BatchNormalization] does while a model is trained.
type BatchNormTraining struct{ Epsilon float64 }

// Infer gives the type of x.
func (op BatchNormTraining) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 3, 3); err != nil {
		return nil, err
	}
	c, err := channels{}.infer(in, 1)
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

// Eval computes in float64.
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
func (BatchNormTraining) Flops(in, _ []ir.Type) ir.Dim { return in[0].Elems().Mul(ir.Const(5)) }

// Lower normalises by moments.
func (op BatchNormTraining) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	x, scale := n.Arg(0), n.Arg(1)
	mean, variance := channelMoments(b, x, scale.Type.Shape)
	return []*ir.Value{b.Node(BatchNormalization{Epsilon: op.Epsilon}, x, scale, n.Arg(2), mean, variance)}
}

// channelMoments appends the moments of x, each in a shape.
func channelMoments(b *ir.Builder, x *ir.Value, shape []ir.Dim) (mean, variance *ir.Value) {
	both := b.Node(ChannelMoments{}, x)
	row := func(i int) *ir.Value {
		return reshape(b, sliceAxis(b, both, 0, ir.Const(i), ir.Const(1)), shape...)
	}
	return row(0), row(1)
}

// Grad is of x r·scale·(g − Σ g/count − z·Σ g·z/count), of the scale Σ g·z, and of the bias
// Σ g, where g is the result's, r = 1/√(variance + Epsilon), z = r·(x − mean), and count is
// the number of elements of a channel.
func (op BatchNormTraining) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, want []bool) []*ir.Value {
	c, x, scale, g := calculus{b}, n.Arg(0), n.Arg(1), of[0]
	mean, variance := channelMoments(b, x, scale.Type.Shape)
	sums := b.Node(ChannelSums{}, g, x, mean)
	row := func(i int) *ir.Value {
		return reshape(b, sliceAxis(b, sums, 0, ir.Const(i), ir.Const(1)), scale.Type.Shape...)
	}
	r := c.over(1, b.Node(Sqrt{}, c.plus(variance, op.Epsilon)))
	toScale := c.mul(row(1), r)
	grads := make([]*ir.Value, 3)
	if want[0] {
		count := channels{}.count(c, x)
		s := c.mul(r, scale)
		by := c.neg(c.div(c.mul(c.mul(s, r), toScale), count))
		rest := c.neg(c.add(c.div(c.mul(s, row(0)), count), c.mul(by, mean)))
		grads[0] = b.Node(ChannelMix{}, g, x, channels{}.stack(b, s, by, rest))
	}
	if want[1] {
		grads[1] = toScale
	}
	if want[2] {
		grads[2] = row(0)
	}
	return grads
}
