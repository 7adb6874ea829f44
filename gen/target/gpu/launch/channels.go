package launch

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/templates/kernels"
)

var channels = []entry{
	computes(channelMoments),
	computes(channelSums),
}

// perChannel returns the launch of a kernel with a block of threads for each channel of planar images. The function
// `fill` builds the kernel. It gets two functions. `at` returns the index, in an operand, of element i of the
// channel. `store` stores v for the channel in row k of the result. perChannel returns an error for floats of 8 bits.
// It also returns an error if blocked is not 0, because the images are then channel-blocked.
func perChannel(name string, blocked int, n *ir.Node, fill func(r *kernels.Row, d ir.DType, at func(i *kernel.Value) *kernel.Value, store func(k int, v *kernel.Value))) ([]kernels.Launch, error) {
	x, y := n.Args[0].Type, n.Results[0]
	d, ok := kernels.Arithmetic(x.DType)
	switch {
	case blocked != 0:
		return nil, errBlocked
	case !ok:
		return nil, errNarrow
	}
	pixels := dim.Product(x.Shape[2:]...)
	return one(kernels.Rows(name, x.Shape[1], x.Shape[0].Mul(pixels), func(r *kernels.Row) {
		at := func(i *kernel.Value) *kernel.Value {
			place := r.Unflatten(i, []dim.Dim{x.Shape[0], pixels})
			return r.Add(r.Mul(r.Add(r.Mul(place[0], r.Dim(x.Shape[1])), r.Index), r.Dim(pixels)), place[1])
		}
		fill(r, d, at, func(k int, v *kernel.Value) {
			r.Do(r.Eq(r.Thread(0), r.Int(0)), func() {
				r.Write(y).Set(r.Add(r.Mul(r.Int(k), r.Dim(x.Shape[1])), r.Index), v)
			})
		})
	}))
}

// channelMoments computes mean and variance of each channel. It reads the operand twice, because
// the variance is the mean of squared distances from the mean.
func channelMoments(o op.ChannelMoments, n *ir.Node) ([]kernels.Launch, error) {
	return perChannel("channel_moments", o.C, n, func(r *kernels.Row, d ir.DType, at func(i *kernel.Value) *kernel.Value, store func(k int, v *kernel.Value)) {
		in, zero, count := r.Read(n.Args[0]), r.Float(d, 0), r.Convert(d, r.Length)
		mean := r.Div(r.Sum(zero, func(i *kernel.Value) *kernel.Value { return in.Get(at(i)) }), count)
		squares := r.Sum(zero, func(i *kernel.Value) *kernel.Value {
			v := r.Sub(in.Get(at(i)), mean)
			return r.Mul(v, v)
		})
		store(0, mean)
		store(1, r.Div(squares, count))
	})
}

func channelSums(o op.ChannelSums, n *ir.Node) ([]kernels.Launch, error) {
	return perChannel("channel_sums", o.C, n, func(r *kernels.Row, d ir.DType, at func(i *kernel.Value) *kernel.Value, store func(k int, v *kernel.Value)) {
		g, x, mean := r.Read(n.Args[0]), r.Read(n.Args[1]), r.Read(n.Args[2]).Get(r.Index)
		sums := r.Reduce([]*kernel.Value{r.Float(d, 0), r.Float(d, 0)}, func(s []*kernel.Value, i *kernel.Value) []*kernel.Value {
			place := at(i)
			v := g.Get(place)
			return []*kernel.Value{r.Add(s[0], v), r.Fma(v, r.Sub(x.Get(place), mean), s[1])}
		}, func(s, t []*kernel.Value) []*kernel.Value {
			return []*kernel.Value{r.Add(s[0], t[0]), r.Add(s[1], t[1])}
		})
		for k, sum := range sums {
			store(k, sum)
		}
	})
}
