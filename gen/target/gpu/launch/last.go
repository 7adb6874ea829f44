package launch

import (
	"errors"

	"github.com/burngen/burngen/gen/target/gpu/last"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/templates/kernels"
)

// channelsLast are the operators on images whose channels are the last axis.
var channelsLast = []entry{
	multiplies(convLast),
	multiplies(productLast),
	ends(depthwiseLast),
	ends(maxPoolLast),
	ends(averagePoolLast),
	ends(globalAveragePoolLast),
	ends(toLast),
}

var errChannels = errors.New("the numbers of channels are not known, or not a multiple of 16 bytes for each group")

// Chunk returns a number c: kernels compute a [last.ConvLast] on operands of type d if the number of channels in each
// group is a multiple of c. It returns 0 if no kernel computes convolutions of type d.
func (o Options) Chunk(d ir.DType) int {
	if d != ir.F32 && d != ir.F16 && d != ir.BF16 {
		return 0
	}
	return kernels.RowFactors{Matrix: o.matrix(d)}.Chunk()
}

// Pipelines reports whether there are pipelined kernels of products of type d with constant extents.
func (o Options) Pipelines(d ir.DType) bool { return o.Pipelined && o.matrix(d) != ir.Invalid }

// convLast computes a convolution as a matrix product for each group. Each element of the result is the inner product
// of two rows. A row of the first factor holds the elements of the operand under a window. A row of the second factor
// holds the weights of a channel of the result. The length of a row is the number of cells of the window times the
// channels of a group.
func convLast(o last.ConvLast, n *ir.Node, put store, by Options) ([]kernels.Launch, error) {
	x, weights, bias, y := n.Args[0], n.Args[1], n.Arg(2), n.Results[0]
	in, out := x.Type.Shape, y.Type.Shape
	spatial := len(o.Kernel)
	chunk := by.Chunk(x.Type.DType)
	depth, ok := weights.Type.Shape[1+spatial].Int()
	channels, ok2 := out[1+spatial].Int()
	if !ok || !ok2 || depth < 1 || chunk == 0 || depth%chunk != 0 || weights.Type.DType != x.Type.DType {
		return nil, errChannels
	}
	name := windowName("conv", o.Window)
	if bias != nil {
		name = joined(name, "bias")
	}
	window := windowOf(o.Window, in[1:1+spatial])
	taps := dim.Consts(o.Kernel...)
	terms := append(dim.Consts(o.Kernel...), dim.Const(depth))
	places := out[:1+spatial]
	perGroup := channels / o.Group
	one := make([]*kernel.Value, spatial) // the first tap
	f := kernels.RowFactors{
		Batch: o.Group, M: dim.Product(places...), N: perGroup, K: op.LenOf(o.Kernel) * depth,
		A: x, B: weights, Matrix: by.matrix(x.Type.DType),
		Row: func(e *kernels.Emitter, _, m *kernel.Value) []*kernel.Value {
			place := e.Unflatten(m, places)
			for i := range one {
				one[i] = e.Int(0)
			}
			first, _ := window.cells(e, place[1:], one)
			return append([]*kernel.Value{place[0]}, first...)
		},
		At: func(e *kernels.Emitter, group *kernel.Value, row []*kernel.Value, k *kernel.Value) (i, inside *kernel.Value) {
			term := e.Unflatten(k, terms)
			inside, i = e.Bool(true), row[0]
			for a := range taps {
				cell := e.Add(row[1+a], e.Mul(term[a], e.Int(o.Dilation(a))))
				inside = e.And(inside, window.exists(e, a, cell))
				i = e.Add(e.Mul(i, e.Dim(in[1+a])), cell)
			}
			channel := e.Add(e.Mul(group, e.Int(depth)), term[spatial])
			return e.Add(e.Mul(i, e.Dim(in[1+spatial])), channel), inside
		},
		Factor: by.factor,
		Store: func(e *kernels.Emitter, group, m, j, sum *kernel.Value) {
			channel := e.Add(e.Mul(group, e.Int(perGroup)), j)
			if bias != nil {
				sum = e.Add(sum, e.Read(bias).Get(channel))
			}
			put(e, e.Add(e.Mul(m, e.Int(channels)), channel), append(e.Unflatten(m, places), channel), sum)
		},
	}
	if by.Pipelines(x.Type.DType) {
		f.Pipelined = pipelinedRows(f)
		if op.LenOf(o.Kernel) > 1 || o.Group > 1 || !window.covers() {
			f.Pipelined.Stored[0], f.Pipelined.Windows = nil, window.ofRows(x, depth, out[1:1+spatial])
		}
	}
	return kernels.RowProducts(name, f)
}

// pipelinedRows describes the products of f for pipelined kernels. The rows of both factors are adjacent in memory.
func pipelinedRows(f kernels.RowFactors) *kernels.Factors {
	rows, _ := f.M.Int() // 0 if the number is not known
	return &kernels.Factors{
		Batch: dim.Const(f.Batch), M: f.M, N: dim.Const(f.N), K: dim.Const(f.K), DType: ir.F32, Matrix: f.Matrix, Store: f.Store,
		Stored: [2]*kernels.Matrices{{Value: f.A, Batch: f.Batch, Rows: rows, Columns: f.K}, {Value: f.B, Batch: f.Batch, Rows: f.N, Columns: f.K}},
	}
}

// covers reports whether each cell of the operand has a window of its own. The caller ensures that a window has one
// cell.
func (w window) covers() bool {
	for i := range w.in {
		if w.Stride(i) != 1 || !w.inside(i) {
			return false
		}
	}
	return true
}

// ofRows describes the windows on x for a product. depth is the number of channels of a group. places are the numbers
// of windows on the spatial axes. ofRows returns nil if extents or the padding are not constant.
func (w window) ofRows(x *ir.Value, depth int, places []dim.Dim) *kernels.Windows {
	pads, ok := dim.Ints(w.pads)
	counts, ok2 := dim.Ints(places)
	if !ok || !ok2 {
		return nil
	}
	of := &kernels.Windows{Value: x, Depth: depth, Kernel: w.Kernel, Pads: pads, Places: counts}
	for i := range w.in {
		of.Stride, of.Dilation = append(of.Stride, w.Stride(i)), append(of.Dilation, w.Dilation(i))
	}
	return of
}

// productLast computes matrix products. An element of the result is the inner product of a row of the operand and a
// row of the weights.
func productLast(_ last.MatMulRows, n *ir.Node, put store, by Options) ([]kernels.Launch, error) {
	x, weights, y := n.Args[0], n.Args[1], n.Results[0]
	shape, ok := weights.Type.Static()
	if chunk := by.Chunk(x.Type.DType); !ok || chunk == 0 || shape[0] < 1 || shape[1] < 1 || shape[1]%chunk != 0 || weights.Type.DType != x.Type.DType {
		return nil, errChannels
	}
	rows := y.Type.Shape[:y.Type.Rank()-1]
	columns, terms := shape[0], shape[1]
	f := kernels.RowFactors{
		Batch: 1, M: dim.Product(rows...), N: columns, K: terms, A: x, B: weights, Matrix: by.matrix(x.Type.DType),
		Row: func(e *kernels.Emitter, _, m *kernel.Value) []*kernel.Value {
			return []*kernel.Value{e.Mul(m, e.Int(terms))}
		},
		At: func(e *kernels.Emitter, _ *kernel.Value, row []*kernel.Value, k *kernel.Value) (i, inside *kernel.Value) {
			return e.Add(row[0], k), e.Bool(true)
		},
		Factor: by.factor,
		Store: func(e *kernels.Emitter, _, m, j, sum *kernel.Value) {
			put(e, e.Add(e.Mul(m, e.Int(columns)), j), append(e.Unflatten(m, rows), j), sum)
		},
	}
	if by.Pipelines(x.Type.DType) {
		f.Pipelined = pipelinedRows(f)
	}
	return kernels.RowProducts("product", f)
}

// exists reports whether a cell on spatial axis i lies inside of the operand. It is the constant true if no window has
// cells outside along this axis.
func (w window) exists(e *kernels.Emitter, i int, cell *kernel.Value) *kernel.Value {
	if w.inside(i) {
		return e.Bool(true)
	}
	return e.And(e.Ge(cell, e.Int(0)), e.Lt(cell, e.Dim(w.in[i])))
}

// inside reports whether no window has cells outside of the operand along spatial axis i.
func (w window) inside(i int) bool {
	none := dim.Const(0)
	pads := w.Padding(w.in)
	return pads[i].Equal(none) && pads[len(w.in)+i].Equal(none) && !w.Ceil
}

// depthwiseLast computes a depthwise convolution with a thread for each element of the result. Neighbouring threads
// compute neighbouring channels.
func depthwiseLast(o last.DepthwiseLast, n *ir.Node, put store) ([]kernels.Launch, error) {
	x, weights, bias, y := n.Args[0], n.Args[1], n.Arg(2), n.Results[0]
	sums, ok := kernels.Arithmetic(y.Type.DType)
	if !ok {
		return nil, errNarrow
	}
	name := windowName("depthwise", o.Window)
	if bias != nil {
		name = joined(name, "bias")
	}
	spatial := len(o.Kernel)
	in, w := x.Type.Shape, windowOf(o.Window, x.Type.Shape[1:1+spatial])
	taps, each := dim.Consts(o.Kernel...), weights.Type.Shape[0]
	count := dim.Product(taps...)
	return one(kernels.Map(name, y.Type.Shape, func(e *kernels.Emitter, at []*kernel.Value, i *kernel.Value) {
		channel := at[1+spatial]
		from, of := e.Div(channel, e.Dim(each)), e.Rem(channel, e.Dim(each))
		sum := e.Times(e.Dim(count), []*kernel.Value{e.Number(sums, 0)}, func(t *kernel.Value, sum []*kernel.Value) []*kernel.Value {
			cells, inside := w.cells(e, at[1:1+spatial], e.Unflatten(t, taps))
			return e.If(inside, func() []*kernel.Value {
				v := e.Read(x).At(append(append([]*kernel.Value{at[0]}, cells...), from)...)
				factor := e.Read(weights).Get(e.Add(e.Mul(e.Add(e.Mul(of, e.Dim(count)), t), e.Dim(in[1+spatial])), from))
				return []*kernel.Value{e.MulAdd(v, factor, sum[0])}
			}, func() []*kernel.Value { return sum })
		})[0]
		if bias != nil {
			sum = e.Add(sum, e.Read(bias).Get(channel))
		}
		put(e, i, at, sum)
	}))
}

func maxPoolLast(o last.MaxPoolLast, n *ir.Node, put store) ([]kernels.Launch, error) {
	return maxOverWindow(o.Window, n, 1, put)
}

func averagePoolLast(o last.AveragePoolLast, n *ir.Node, put store) ([]kernels.Launch, error) {
	return averageOverWindow(o.Window, o.CountPad, n, 1, put)
}

// globalAveragePoolLast launches a thread for each channel of each image.
func globalAveragePoolLast(_ last.GlobalAveragePoolLast, n *ir.Node, put store) ([]kernels.Launch, error) {
	x, y := n.Args[0], n.Results[0]
	d, ok := kernels.Arithmetic(x.Type.DType)
	if !ok {
		return nil, errNarrow
	}
	shape := x.Type.Shape
	end := len(shape) - 1
	plane := dim.Product(shape[1:end]...)
	return one(kernels.Map("global_average_pool", y.Type.Shape, func(e *kernels.Emitter, at []*kernel.Value, i *kernel.Value) {
		sum := e.ForUnrolled(8, e.Int(0), e.Dim(plane), e.Int(1), []*kernel.Value{e.Float(d, 0)}, func(k *kernel.Value, sum []*kernel.Value) []*kernel.Value {
			from := e.Add(e.Mul(e.Add(e.Mul(at[0], e.Dim(plane)), k), e.Dim(shape[end])), at[end])
			return []*kernel.Value{e.Add(sum[0], e.Read(x).Get(from))}
		})[0]
		put(e, i, at, e.Div(sum, e.Convert(d, e.Dim(plane))))
	}))
}

func toLast(o last.ToLast, n *ir.Node, put store) ([]kernels.Launch, error) {
	x, y := n.Args[0], n.Results[0]
	d, ok := kernels.Arithmetic(x.Type.DType)
	if !ok {
		return nil, errNarrow
	}
	end := y.Type.Rank() - 1
	return one(kernels.Map("to_last", y.Type.Shape, func(e *kernels.Emitter, at []*kernel.Value, i *kernel.Value) {
		v := e.If(e.Lt(at[end], e.Dim(x.Type.Shape[1])), func() []*kernel.Value {
			return []*kernel.Value{e.Read(x).At(append([]*kernel.Value{at[0], at[end]}, at[1:end]...)...)}
		}, func() []*kernel.Value { return []*kernel.Value{e.Number(d, 0)} })
		put(e, i, at, v[0])
	}))
}
