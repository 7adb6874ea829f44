package launch

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/templates/kernels"
)

var convolution = []entry{
	multiplies(conv),
	multiplies(convWeights),
}

func conv(o op.Conv, n *ir.Node, put store, by Options) ([]kernels.Launch, error) {
	bias, y := n.Arg(2), n.Results[0]
	sums, ok := kernels.Arithmetic(y.Type.DType)
	if !ok {
		return nil, errNarrow
	}
	name := windowName("conv", o.Window)
	if bias != nil {
		name = joined(name, "bias")
	}
	factor := func(e *kernels.Emitter, v, _ *kernel.Value) *kernel.Value { return by.factor(e, v) }
	return convolve(name, o, n, sums, by.matrix(n.Args[0].Type.DType), factor, factor, func(e *kernels.Emitter, i *kernel.Value, at []*kernel.Value, channel, sum *kernel.Value) {
		if bias != nil {
			sum = e.Add(sum, e.Read(bias).Get(channel))
		}
		put(e, i, at, sum)
	})
}

// convolve computes a convolution as a matrix product [channels, terms]·[terms, windows] for each group. A term is a
// pair: a channel of the operand and a cell of the window. The function x converts an element v of the operand, and
// the function w an element v of the weights. w gets the channel of the result as `channel`; x gets nil. sums is the
// type of the sums, and matrix is [kernels.Factors.Matrix]. put stores each sum.
func convolve(name string, o op.Conv, n *ir.Node, sums, matrix ir.DType, x, w func(e *kernels.Emitter, v, channel *kernel.Value) *kernel.Value, put storeSum) ([]kernels.Launch, error) {
	operand, weights, y := n.Args[0], n.Args[1], n.Results[0]
	in, out := operand.Type.Shape, y.Type.Shape
	group := dim.Const(o.Group)
	channels, ok := out[1].DivExact(group)
	if !ok {
		return nil, fmt.Errorf("%s channels in %d groups", out[1], o.Group)
	}
	depth := weights.Type.Shape[1]
	window := windowOf(o.Window, in[2:])
	terms := append([]dim.Dim{depth}, dim.Consts(o.Kernel...)...)
	places := append([]dim.Dim{in[0]}, out[2:]...)
	return one(kernels.Product(name, kernels.Factors{
		Batch: group, M: channels, N: dim.Product(places...), K: dim.Product(terms...), DType: sums, Matrix: matrix, RowsB: true,
		A: func(e *kernels.Emitter, g, m, k *kernel.Value) *kernel.Value {
			row := e.Add(e.Mul(g, e.Dim(channels)), m)
			return w(e, e.Read(weights).Get(e.Add(e.Mul(row, e.Dim(dim.Product(terms...))), k)), row)
		},
		B: func(e *kernels.Emitter, g, k, j *kernel.Value) *kernel.Value {
			term, place := e.Unflatten(k, terms), e.Unflatten(j, places)
			channel := e.Add(e.Mul(g, e.Dim(depth)), term[0])
			cells, inside := window.cells(e, place[1:], term[1:])
			return e.If(inside, func() []*kernel.Value {
				return []*kernel.Value{x(e, e.Read(operand).At(append([]*kernel.Value{place[0], channel}, cells...)...), nil)}
			}, func() []*kernel.Value { return []*kernel.Value{e.Number(sums, 0)} })[0]
		},
		Store: func(e *kernels.Emitter, g, m, j, sum *kernel.Value) {
			channel := e.Add(e.Mul(g, e.Dim(channels)), m)
			place := e.Unflatten(j, places)
			at := append([]*kernel.Value{place[0], channel}, place[1:]...)
			put(e, e.Flatten(at, out), at, channel, sum)
		},
	}))
}

type window struct {
	op.Window
	in   []dim.Dim // spatial extents of the operand
	pads []dim.Dim // padding before each axis
}

func windowOf(w op.Window, in []dim.Dim) window { return window{w, in, w.Padding(in)[:len(in)]} }

// cells returns the coordinates, on the axes of the operand, of a cell under the window at position `place`. tap
// holds the coordinates of the cell in the window. inside says whether the operand has this cell.
func (w window) cells(e *kernels.Emitter, place, tap []*kernel.Value) (cells []*kernel.Value, inside *kernel.Value) {
	inside = e.Bool(true)
	for i := range place {
		first := e.Sub(e.Mul(place[i], e.Int(w.Stride(i))), e.Dim(w.pads[i]))
		c := e.Add(first, e.Mul(tap[i], e.Int(w.Dilation(i))))
		cells = append(cells, c)
		inside = e.And(inside, e.And(e.Ge(c, e.Int(0)), e.Lt(c, e.Dim(w.in[i]))))
	}
	return cells, inside
}

// places looks for the window in which a cell of the operand has the coordinates `tap`. It returns the position of
// this window. exists says whether there is such a window. extents are the numbers of windows along each axis.
func (w window) places(e *kernels.Emitter, cell, tap []*kernel.Value, extents []dim.Dim) (places []*kernel.Value, exists *kernel.Value) {
	exists = e.Bool(true)
	for i := range cell {
		stride := e.Int(w.Stride(i))
		first := e.Sub(e.Add(cell[i], e.Dim(w.pads[i])), e.Mul(tap[i], e.Int(w.Dilation(i))))
		p := e.Div(first, stride)
		places = append(places, p)
		exists = e.And(exists, e.And(e.Ge(first, e.Int(0)), e.Eq(e.Rem(first, stride), e.Int(0))))
		exists = e.And(exists, e.Lt(p, e.Dim(extents[i])))
	}
	return places, exists
}

// convWeights computes the gradient of a convolution's weights as a matrix product G·X for each group. G[m, w] is
// the gradient of channel m of the result at window w. X[w, (c, t)] is the element in channel c of the operand that
// lies under cell t of window w.
func convWeights(o op.ConvWeights, n *ir.Node, put store, by Options) ([]kernels.Launch, error) {
	x, g, y := n.Args[0], n.Args[1], n.Results[0]
	sums, ok := kernels.Arithmetic(y.Type.DType)
	if !ok {
		return nil, errNarrow
	}
	in, places := x.Type.Shape, o.ChannelsFirst(g.Type).Shape[1:]
	channels, _ := y.Type.Shape[0].DivExact(dim.Const(o.Group))
	depth := y.Type.Shape[1]
	w := windowOf(o.Window, in[2:])
	columns := append([]dim.Dim{depth}, dim.Consts(o.Kernel...)...)
	return one(kernels.Product("conv_weights", kernels.Factors{
		Batch: dim.Const(o.Group), M: channels, N: dim.Product(columns...), K: dim.Product(places...), DType: sums, Matrix: by.matrix(x.Type.DType),
		A: func(e *kernels.Emitter, group, m, k *kernel.Value) *kernel.Value {
			channel := e.Add(e.Mul(group, e.Dim(channels)), m)
			place := e.Unflatten(k, places)
			at := append([]*kernel.Value{place[0], channel}, place[1:]...)
			if o.First {
				at[0], at[1] = at[1], at[0]
			}
			return by.factor(e, e.Read(g).At(at...))
		},
		B: func(e *kernels.Emitter, group, k, j *kernel.Value) *kernel.Value {
			place, column := e.Unflatten(k, places), e.Unflatten(j, columns)
			channel := e.Add(e.Mul(group, e.Dim(depth)), column[0])
			cells, inside := w.cells(e, place[1:], column[1:])
			return e.If(inside, func() []*kernel.Value {
				return []*kernel.Value{by.factor(e, e.Read(x).At(append([]*kernel.Value{place[0], channel}, cells...)...))}
			}, func() []*kernel.Value { return []*kernel.Value{e.Number(sums, 0)} })[0]
		},
		Store: func(e *kernels.Emitter, group, m, j, sum *kernel.Value) {
			row := e.Add(e.Mul(group, e.Dim(channels)), m)
			put(e, e.Add(e.Mul(row, e.Dim(dim.Product(columns...))), j), nil, sum)
		},
	}))
}
