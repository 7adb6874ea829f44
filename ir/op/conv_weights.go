package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// ConvWeights is the gradient of the weights of a [Conv]. Its operands are the convolution's operand x,
// [N,C,spatial…], and the upstream gradient g. The result dw is [M,C/Group,kernel…]. Its element for cell k of the
// window is
//
//	dw[m,c,k] = Σ x[n,c′,p]·g[n,m,o]
//
// The sum is over all batch elements n and all windows o. p is the position in x of cell k of window o, and c′ is
// channel c of the group that m belongs to. Cells in the padding are left out.
type ConvWeights struct {
	Window
	Group int  // divides C and M
	Wide  bool // the result of narrow floats is f32
	First bool // g has its channels first, [M,N,spatial…], as a kernel reads them
}

// ChannelsFirst returns the type of g with its channels first, [M,N,spatial…]. If First is not set, g is
// [N,M,spatial…].
func (op ConvWeights) ChannelsFirst(g ir.Type) ir.Type {
	if op.First || g.Rank() < 2 {
		return g
	}
	return ir.TensorOf(g.DType, append([]dim.Dim{g.Shape[1], g.Shape[0]}, g.Shape[2:]...)...)
}

// Infer returns [M,C/Group,kernel…], the type of the convolution's weights.
func (op ConvWeights) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 2, 2); err != nil {
		return nil, err
	}
	if err := inferFloats(in); err != nil {
		return nil, err
	}
	x, g := in[0], op.ChannelsFirst(in[1])
	if g.Rank() != x.Rank() || x.Rank() < 2 {
		return nil, fmt.Errorf("gradient %s for %s", g, x)
	}
	if err := op.Check(x.Rank() - 2); err != nil {
		return nil, err
	}
	if op.Group < 1 {
		return nil, fmt.Errorf("%d groups", op.Group)
	}
	channels, ok := x.Shape[1].DivExact(dim.Const(op.Group))
	if _, whole := g.Shape[0].DivExact(dim.Const(op.Group)); !ok || !whole {
		return nil, fmt.Errorf("%s and %s channels in %d groups", x.Shape[1], g.Shape[0], op.Group)
	}
	spatial, err := op.Places(x.Shape[2:])
	if err != nil {
		return nil, err
	}
	for i, d := range append([]dim.Dim{x.Shape[0]}, spatial...) {
		if err := Same(g.Shape[1+i], d, "extents of the gradient and the windows"); err != nil {
			return nil, err
		}
	}
	return []ir.Type{ir.TensorOf(sumsOf(x.DType, op.Wide), append([]dim.Dim{g.Shape[0], channels}, dim.Consts(op.Kernel...)...)...)}, nil
}

// Eval returns the gradient of the weights, [M,C/Group,kernel…]. It sums products in float64.
func (op ConvWeights) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	out, err := InferOf(op, in)
	if err != nil {
		return nil, err
	}
	shape, _ := out[0].Static()
	x, g := NumbersOf(in[0]), NumbersOf(in[1])
	m, width, taps := shape[0], shape[1], LenOf(op.Kernel)
	images, channels := in[0].Shape[0], in[0].Shape[1]
	plane, places := LenOf(in[0].Shape[2:]), LenOf(in[1].Shape[2:])
	sums := make([]float64, LenOf(shape))
	at := func(row, image int) int { return image*m + row } // of g, in planes
	if op.First {
		at = func(row, image int) int { return row*images + image }
	}
	err = op.Visit(in[0].Shape[2:], func(o int, c Cells) {
		for i := range m * images {
			row := i / images
			by := g[at(row, i%images)*places+o]
			first := i%images*channels + row/(m/op.Group)*width
			for k := range width {
				to, from := sums[(row*width+k)*taps:][:taps], x[(first+k)*plane:][:plane]
				for t, at := range c.At {
					to[c.Tap[t]] += float64(from[at] * by)
				}
			}
		}
	})
	y := ir.NewTensor(out[0].DType, shape...)
	for i, v := range sums {
		y.SetFloat(i, v)
	}
	return []*ir.Tensor{y}, err
}

// Flops counts a multiplication and an addition for each product of an element of x and one of g.
func (op ConvWeights) Flops(in, out []ir.Type) dim.Dim {
	return in[1].Elems().Mul(dim.Product(out[0].Shape[1:]...)).Mul(dim.Const(2))
}

// Grad returns the gradients of x and g. The result dw is linear in x and in g. The gradient dy[0] of dw has the shape
// of the weights of a [Conv]. The gradient of g is the convolution of x with dy[0] as the weights. The gradient of x is
// the gradient that this convolution returns for its operand if g is the upstream gradient.
func (op ConvWeights) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, want []bool) []*ir.Value {
	x, g, s := n.Arg(0), n.Arg(1), dy[0]
	swap := func(v *ir.Value) *ir.Value {
		if !op.First {
			return v
		}
		return TransposeBy(b, v, channelsFirst(v)...)
	}
	conv := Conv{Window: op.Window, Group: op.Group}
	grads := make([]*ir.Value, 2)
	if want[0] {
		grads[0] = conv.dataGrad(b, swap(g), s, x.Type)
	}
	if want[1] {
		grads[1] = swap(b.Node(conv, x, s))
	}
	return grads
}

// channelsFirst returns the permutation that swaps the batch and the channels of x.
func channelsFirst(x *ir.Value) []int {
	return append([]int{1, 0}, AllAxes(x.Type.Rank())[2:]...)
}

// HasKernel reports in ok whether a kernel computes the operator for the operands x and g, [M,N,spatial…]. They
// must be f32 over one or two spatial axes, and their numbers of channels constant and not 0. inC and outC are
// these numbers.
func (op ConvWeights) HasKernel(x, g ir.Type) (inC, outC int, ok bool) {
	inC, known := x.Shape[1].Int()
	outC, whole := g.Shape[0].Int()
	n := len(op.Kernel)
	return inC, outC, known && whole && x.DType == ir.F32 && 1 <= n && n <= MaxSpatial && min(inC, outC) > 0
}

// Lower replaces the node by matrix products if no kernel computes it. There is one product for each cell of the
// window. The left matrix has a row for each channel and a column for each window: it holds the elements of x in
// this cell of each window. The right matrix is g. If there are few channels, a single product computes all cells,
// and its left matrix has a row for each channel and cell. If First is not set, Lower only transposes g and sets
// First.
func (op ConvWeights) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	if out := lowerNarrow(b, n); out != nil {
		return out
	}
	c, x, g := calculus{b}, n.Arg(0), n.Arg(1)
	if !op.First {
		op.First = true
		return []*ir.Value{b.Node(op, x, TransposeBy(b, g, channelsFirst(g)...))}
	}
	if _, _, ok := op.HasKernel(x.Type, g.Type); ok {
		return nil
	}
	count := g.Type.Shape[2:]
	groups, one := dim.Const(op.Group), dim.Const(1)
	m := g.Type.Shape[0]
	perM, _ := m.DivExact(groups)
	perC, _ := x.Type.Shape[1].DivExact(groups)
	windows := g.Type.Shape[1].Mul(dim.Product(count...))
	right := swapLast(b, ReshapeTo(b, g, groups, perM, windows))
	x = TransposeBy(b, op.around(b, x, c.num(x, 0), count, op.Padding(x.Type.Shape[2:])), channelsFirst(x)...)
	cells := op.cells(b, x, count)
	shape := n.Results[0].Type.Shape
	if n, ok := perC.Int(); ok && n*len(cells) <= directCells {
		for i, cell := range cells {
			cells[i] = ReshapeTo(b, cell, groups, perC, one, windows)
		}
		left := ReshapeTo(b, b.Node(Concat{Axis: 2}, cells...), groups, perC.Mul(dim.Const(len(cells))), windows)
		return []*ir.Value{ReshapeTo(b, TransposeBy(b, b.Node(MatMul{}, left, right), 0, 2, 1), shape...)}
	}
	for i, cell := range cells {
		p := b.Node(MatMul{}, ReshapeTo(b, cell, groups, perC, windows), right)
		cells[i] = ReshapeTo(b, p, groups, perC, perM, one)
	}
	all := b.Node(Concat{Axis: 3}, cells...)
	return []*ir.Value{ReshapeTo(b, TransposeBy(b, all, 0, 2, 1, 3), shape...)}
}

// directCells bounds (C/Group)·cells, where cells is the number of cells of a window. Up to directCells,
// [ConvWeights.Lower] uses a single matrix product, and above it, one for each cell.
const directCells = 64

// Factors returns 2: the convolution's operand and the upstream gradient.
func (ConvWeights) Factors() int { return 2 }

// Widened returns the operator with a result of f32.
func (op ConvWeights) Widened() ir.Op {
	op.Wide = true
	return op
}
