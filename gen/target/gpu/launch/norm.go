package launch

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/kernel/elementary"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/templates/kernels"
)

var norm = []entry{
	ends(func(o op.LayerNormalization, n *ir.Node, put store) ([]kernels.Launch, error) {
		x := n.Args[0].Type.Shape
		return normalise("layer_norm", n, dim.Product(x[:o.Axis]...), dim.Product(x[o.Axis:]...), o.Epsilon, true, element0, put)
	}),
	ends(func(o op.RMSNormalization, n *ir.Node, put store) ([]kernels.Launch, error) {
		x := n.Args[0].Type.Shape
		return normalise("rms_norm", n, dim.Product(x[:o.Axis]...), dim.Product(x[o.Axis:]...), o.Epsilon, false, element0, put)
	}),
	ends(groupNorm),
	ends(lrn),
}

// element0 returns i. It is the argument `place` of [normalise] if the scale and the bias have one element for each
// element of a row.
func element0(r *kernels.Row, i *kernel.Value) *kernel.Value { return i }

// groupNorm normalises groups of channels. Scale and bias have an element for each channel.
func groupNorm(o op.GroupNormalization, n *ir.Node, put store) ([]kernels.Launch, error) {
	x := n.Args[0].Type.Shape
	groups, pixels := dim.Const(o.Groups), dim.Product(x[2:]...)
	channels, _ := x[1].DivExact(groups)
	return normalise("group_norm", n, x[0].Mul(groups), channels.Mul(pixels), o.Epsilon, true, func(r *kernels.Row, i *kernel.Value) *kernel.Value {
		group := r.Rem(r.Index, r.Dim(groups))
		return r.Add(r.Mul(group, r.Dim(channels)), r.Div(i, r.Dim(pixels)))
	}, put)
}

// normalise divides each row by √(m + epsilon), where m is the mean of the squares of the row. If centred is set,
// it subtracts the mean of the row first, so that m is the variance. The optional operands after the first are a
// scale and a bias. The function `place` returns the index of the scale and of the bias for element i of a row.
func normalise(name string, n *ir.Node, rows, length dim.Dim, epsilon float64, centred bool, place func(r *kernels.Row, i *kernel.Value) *kernel.Value, put store) ([]kernels.Launch, error) {
	x, scale, bias := n.Args[0], n.Arg(1), n.Arg(2)
	d, ok := kernels.Arithmetic(x.Type.DType)
	if !ok {
		return nil, errNarrow
	}
	return one(kernels.Rows(name, rows, length, func(r *kernels.Row) {
		in := r.Read(x)
		first := r.Mul(r.Index, r.Length)
		count := r.Convert(d, r.Length)
		mean := r.Float(d, 0)
		if centred {
			mean = r.Div(r.Sum(r.Float(d, 0), func(i *kernel.Value) *kernel.Value { return in.Get(r.Add(first, i)) }), count)
		}
		centre := func(i *kernel.Value) *kernel.Value {
			v := in.Get(r.Add(first, i))
			if centred {
				v = r.Sub(v, mean)
			}
			return v
		}
		squares := r.Sum(r.Float(d, 0), func(i *kernel.Value) *kernel.Value { v := centre(i); return r.Mul(v, v) })
		root := r.Unary(kernel.Sqrt, r.Add(r.Div(squares, count), r.Float(d, epsilon)))
		r.Each(func(i *kernel.Value) {
			v := r.Div(centre(i), root)
			at := place(r, i)
			if scale != nil {
				v = r.Mul(v, r.Read(scale).Get(at))
			}
			if bias != nil {
				v = r.Add(v, r.Read(bias).Get(at))
			}
			put(r.Emitter, r.Add(first, i), nil, v)
		})
	}))
}

// lrn computes local response normalisation with a thread for each element. The thread adds up the squares of the
// elements in the neighbouring channels.
func lrn(o op.LRN, n *ir.Node, put store) ([]kernels.Launch, error) {
	x := n.Args[0]
	d, ok := kernels.Arithmetic(x.Type.DType)
	if o.Blocked || !ok {
		return nil, errBlocked
	}
	shape := x.Type.Shape
	channels, plane := shape[1], dim.Product(shape[2:]...)
	return one(kernels.Map("lrn", []dim.Dim{shape[0], channels, plane}, func(e *kernels.Emitter, at []*kernel.Value, i *kernel.Value) {
		first := e.Max(e.Int(0), e.Sub(at[1], e.Int((o.Size-1)/2)))
		last := e.Min(e.Sub(e.Dim(channels), e.Int(1)), e.Add(at[1], e.Int(o.Size/2)))
		sum := e.For(first, e.Add(last, e.Int(1)), e.Int(1), []*kernel.Value{e.Float(d, 0)}, func(c *kernel.Value, s []*kernel.Value) []*kernel.Value {
			row := e.Add(e.Mul(at[0], e.Dim(channels)), c)
			v := e.Read(x).Get(e.Add(e.Mul(row, e.Dim(plane)), at[2]))
			return []*kernel.Value{e.Fma(v, v, s[0])}
		})
		base := e.Fma(e.Float(d, o.Alpha/float64(o.Size)), sum[0], e.Float(d, o.Bias))
		put(e, i, nil, e.Div(e.Read(x).Get(i), elementary.Pow(e.Builder, base, e.Float(d, o.Beta))))
	}))
}
