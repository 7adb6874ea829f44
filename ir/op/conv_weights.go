package op

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
)

// ConvWeights is the gradient of the weights of a [Conv]: of its operand x,
// [N,C,spatial…], and the gradient g of its result, [N,M,spatial…], each element of the
// result, [M,C/Group,kernel…], is the sum over all windows of the products of its cell of x
// and the element of g.
type ConvWeights struct {
	Window
	Group int  // divides C and M
	First bool // the channels of g come first, [M,N,spatial…], as a kernel reads them
}

// first returns the type of g with the channels first.
func (op ConvWeights) first(g ir.Type) ir.Type {
	if op.First || g.Rank() < 2 {
		return g
	}
	return ir.TensorOf(g.DType, append([]ir.Dim{g.Shape[1], g.Shape[0]}, g.Shape[2:]...)...)
}

// Infer gives the shape of the weights.
func (op ConvWeights) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 2, 2); err != nil {
		return nil, err
	}
	if err := inferFloats(in); err != nil {
		return nil, err
	}
	x, g := in[0], op.first(in[1])
	if g.Rank() != x.Rank() || x.Rank() < 2 {
		return nil, fmt.Errorf("gradient %s for %s", g, x)
	}
	if err := op.check(x.Rank() - 2); err != nil {
		return nil, err
	}
	if op.Group < 1 {
		return nil, fmt.Errorf("%d groups", op.Group)
	}
	channels, ok := x.Shape[1].DivExact(ir.Const(op.Group))
	if _, whole := g.Shape[0].DivExact(ir.Const(op.Group)); !ok || !whole {
		return nil, fmt.Errorf("%s and %s channels in %d groups", x.Shape[1], g.Shape[0], op.Group)
	}
	spatial, err := op.shape(x.Shape[2:])
	if err != nil {
		return nil, err
	}
	for i, d := range append([]ir.Dim{x.Shape[0]}, spatial...) {
		if err := same(g.Shape[1+i], d, "extents of the gradient and the windows"); err != nil {
			return nil, err
		}
	}
	return []ir.Type{ir.TensorOf(x.DType, append([]ir.Dim{g.Shape[0], channels}, ir.Dims(op.Kernel...)...)...)}, nil
}

// Eval sums products in float64.
func (op ConvWeights) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	out, err := inferOf(op, in)
	if err != nil {
		return nil, err
	}
	shape, _ := out[0].Static()
	x, g := numbersOf(in[0]), numbersOf(in[1])
	m, width, taps := shape[0], shape[1], lenOf(op.Kernel)
	images, channels := in[0].Shape[0], in[0].Shape[1]
	plane, places := lenOf(in[0].Shape[2:]), lenOf(in[1].Shape[2:])
	sums := make([]float64, lenOf(shape))
	at := func(row, image int) int { return image*m + row } // of g, in planes
	if op.First {
		at = func(row, image int) int { return row*images + image }
	}
	err = op.visit(in[0].Shape[2:], func(o int, c cells) {
		for i := range m * images {
			row := i / images
			by := g[at(row, i%images)*places+o]
			first := i%images*channels + row/(m/op.Group)*width
			for k := range width {
				to, from := sums[(row*width+k)*taps:][:taps], x[(first+k)*plane:][:plane]
				for t, at := range c.at {
					to[c.tap[t]] += float64(from[at] * by)
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

// Flops counts two operations for each product.
func (op ConvWeights) Flops(in, out []ir.Type) ir.Dim {
	return in[1].Elems().Mul(ir.Product(out[0].Shape[1:]...)).Mul(ir.Const(2))
}

// Grad is of x the gradient of the operand, with the result's, s, for weights, and of g the
// convolution of x with s.
func (op ConvWeights) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, want []bool) []*ir.Value {
	x, g, s := n.Arg(0), n.Arg(1), of[0]
	swap := func(v *ir.Value) *ir.Value {
		if !op.First {
			return v
		}
		return transpose(b, v, channelsFirst(v)...)
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

// channelsFirst exchanges the batch and the channels of x.
func channelsFirst(x *ir.Value) []int {
	return append([]int{1, 0}, allAxes(x.Type.Rank())[2:]...)
}

// hasKernel reports whether there is a kernel for operands: f32 over one or two spatial
// axes, with channels that are known.
func (op ConvWeights) hasKernel(x, g ir.Type) (inC, outC int, ok bool) {
	inC, known := x.Shape[1].Int()
	outC, whole := g.Shape[0].Int()
	n := len(op.Kernel)
	return inC, outC, known && whole && x.DType == ir.F32 && 1 <= n && n <= maxSpatial && min(inC, outC) > 0
}

// Lower makes what has no kernel products of matrices: for each cell of the window of
// that cell of all windows over x, as a matrix of its channels and of the windows, and g.
// Few channels have the cells of all in one matrix.
func (op ConvWeights) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	if out := lowerNarrow(b, n); out != nil {
		return out
	}
	c, x, g := calculus{b}, n.Arg(0), n.Arg(1)
	if !op.First {
		op.First = true
		return []*ir.Value{b.Node(op, x, transpose(b, g, channelsFirst(g)...))}
	}
	if _, _, ok := op.hasKernel(x.Type, g.Type); ok {
		return nil
	}
	count := g.Type.Shape[2:]
	groups, one := ir.Const(op.Group), ir.Const(1)
	m := g.Type.Shape[0]
	perM, _ := m.DivExact(groups)
	perC, _ := x.Type.Shape[1].DivExact(groups)
	windows := g.Type.Shape[1].Mul(ir.Product(count...))
	right := swapLast(b, reshape(b, g, groups, perM, windows))
	x = transpose(b, op.around(b, x, c.num(x, 0), count, op.pads(x.Type.Shape[2:])), channelsFirst(x)...)
	cells := op.cells(b, x, count)
	shape := n.Results[0].Type.Shape
	if n, ok := perC.Int(); ok && n*len(cells) <= directCells {
		for i, cell := range cells {
			cells[i] = reshape(b, cell, groups, perC, one, windows)
		}
		left := reshape(b, b.Node(Concat{Axis: 2}, cells...), groups, perC.Mul(ir.Const(len(cells))), windows)
		return []*ir.Value{reshape(b, transpose(b, b.Node(MatMul{}, left, right), 0, 2, 1), shape...)}
	}
	for i, cell := range cells {
		p := b.Node(MatMul{}, reshape(b, cell, groups, perC, windows), right)
		cells[i] = reshape(b, p, groups, perC, perM, one)
	}
	all := b.Node(Concat{Axis: 3}, cells...)
	return []*ir.Value{reshape(b, transpose(b, all, 0, 2, 1, 3), shape...)}
}

// directCells is the number of cells of the windows of a group's channels up to which
// the gradient of the weights is one product.
const directCells = 64

// Relayout reads operands in the blocked layout, but for those of few channels.
func (op ConvWeights) Relayout(b *ir.Builder, n *ir.Node, l Layouts) *ir.Value {
	x, g := n.Arg(0), n.Arg(1)
	inC, outC, ok := op.hasKernel(x.Type, op.first(g.Type))
	if !ok || op.First || op.Group > 1 || l.Blocked(x) == nil && fewChannels(inC) {
		return nil
	}
	return b.Node(ConvWeightsBlocked{Window: op.Window, InC: inC, OutC: outC}, l.Block(x), l.Block(g))
}

// Call is cpu.ConvWeights.
func (op ConvWeights) Call(n *ir.Node) (ir.Call, error) {
	x, g := n.Arg(0).Type, n.Arg(1).Type
	inC, outC, ok := op.hasKernel(x, g)
	if !ok || !op.First {
		return ir.Call{}, fmt.Errorf("no kernel for %s and %s", x, g)
	}
	y := slices.Concat([]ir.Dim{g.Shape[1], g.Shape[0]}, g.Shape[2:])
	terms := g.Shape[1].Mul(ir.Product(g.Shape[2:]...))
	part := ir.Const(weightPanels * block).Mul(terms.Min(ir.Const(weightTerms)))
	scratch := ir.Scratch{DType: ir.F32, Len: part.Mul(ir.Const(weightParts))}
	shape := op.convShapeOf(x.Shape, y, packing{inC, outC, op.Group, 1})
	return ir.Call{Kernel: "ConvWeights", Args: []any{ir.Out(0), ir.In(0), ir.In(1), scratch, shape}}, nil
}

// What cpu.ConvWeights makes use of; see cpu.ConvWeightsScratch.
const (
	weightParts  = 16
	weightPanels = 3
	weightTerms  = 1024
)
