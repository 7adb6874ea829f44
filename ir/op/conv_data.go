package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// ConvData is the gradient of the operand of a [Conv] of one group, of the spatial extents
// Spatial: of the gradient g of its result, [N,M,spatial…], and the weights w,
// [M,C,kernel…], each element of the result, [N,C,Spatial…], is the sum over the windows
// that it is in, of the products of g and w.
type ConvData struct {
	Window
	Spatial []ir.Dim
}

// Infer gives the shape of the operand.
func (op ConvData) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 2, 2); err != nil {
		return nil, err
	}
	if err := inferFloats(in); err != nil {
		return nil, err
	}
	g, w := in[0], in[1]
	if err := op.conv().inferWeights(g, w, w.Rank()); err != nil {
		return nil, err
	}
	if len(op.Spatial) != len(op.Kernel) {
		return nil, fmt.Errorf("extents %s for %d spatial axes", shapeText(op.Spatial), len(op.Kernel))
	}
	spatial, err := op.shape(op.Spatial)
	if err != nil {
		return nil, err
	}
	for i, d := range append([]ir.Dim{w.Shape[0]}, spatial...) {
		if err := same(g.Shape[1+i], d, "extents of the gradient, and the channels and windows"); err != nil {
			return nil, err
		}
	}
	return []ir.Type{ir.TensorOf(g.DType, append([]ir.Dim{g.Shape[0], w.Shape[1]}, op.Spatial...)...)}, nil
}

// conv is the convolution whose operand's gradient this is.
func (op ConvData) conv() Conv { return Conv{Window: op.Window, Group: 1} }

// Eval sums products in float64.
func (op ConvData) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	out, err := inferOf(op, in)
	if err != nil {
		return nil, err
	}
	shape, ok := out[0].Static()
	if !ok {
		return nil, fmt.Errorf("extents %s have no value", shapeText(op.Spatial))
	}
	g, w := numbersOf(in[0]), numbersOf(in[1])
	n, c, m := shape[0], shape[1], in[0].Shape[1]
	taps, plane, places := lenOf(op.Kernel), lenOf(shape[2:]), lenOf(in[0].Shape[2:])
	sums := make([]float64, lenOf(shape))
	err = op.visit(shape[2:], func(o int, cells cells) {
		for i := range n * m {
			by := g[i*places+o]
			for k := range c {
				to, weights := sums[(i/m*c+k)*plane:][:plane], w[(i%m*c+k)*taps:][:taps]
				for t, at := range cells.at {
					to[at] += float64(by * weights[cells.tap[t]])
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
func (op ConvData) Flops(in, _ []ir.Type) ir.Dim {
	return in[0].Elems().Mul(ir.Product(in[1].Shape[1:]...)).Mul(ir.Const(2))
}

// Grad is of g the convolution of the result's, s, and of the weights the sum over all
// windows of the products of s and g.
func (op ConvData) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, want []bool) []*ir.Value {
	g, w, s := n.Arg(0), n.Arg(1), of[0]
	grads := make([]*ir.Value, 2)
	if want[0] {
		grads[0] = b.Node(op.conv(), s, w)
	}
	if want[1] {
		grads[1] = b.Node(ConvWeights{Window: op.Window, Group: 1}, s, g)
	}
	return grads
}

// hasKernel reports whether there is a kernel for weights: of f32 over one or two spatial
// axes, none of which has steps and dilation, with channels that are known.
func (op ConvData) hasKernel(w ir.Type) bool {
	for i := range op.Kernel {
		if op.stride(i) > 1 && op.dilation(i) > 1 {
			return false
		}
	}
	shape, ok := w.Static()
	return ok && w.DType == ir.F32 && len(op.Kernel) <= maxSpatial && lenOf(shape) > 0
}

// Lower makes what has no kernel a transposed convolution.
func (op ConvData) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	g, w := n.Arg(0), n.Arg(1)
	return []*ir.Value{op.conv().dataTransposed(b, g, w, n.Results[0].Type)}
}

// Relayout computes in the blocked layout.
func (op ConvData) Relayout(b *ir.Builder, n *ir.Node, l Layouts) *ir.Value {
	g, w := l.Block(n.Arg(0)), n.Arg(1)
	if g == nil || !op.hasKernel(w.Type) {
		return nil
	}
	shape, _ := w.Type.Static()
	return b.Node(ConvDataBlocked{Window: op.Window, InC: shape[1], OutC: shape[0], Spatial: op.Spatial}, g, b.Node(PackConvData{}, w))
}
