package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// ConvData is the gradient of the operand x of a [Conv] with one group. Its operands are the upstream gradient g,
// [N,M,spatial…], and the weights w, [M,C,kernel…]. The result dx is [N,C,Spatial…]. Its element for channel c and
// position p is
//
//	dx[n,c,p] = Σ g[n,m,o]·w[m,c,k]
//
// The sum is over all m, and over all windows o and cells k for which cell k of window o is at position p.
type ConvData struct {
	Window
	Spatial []dim.Dim
}

// Infer returns [N,C,Spatial…], the type of the convolution's operand.
func (op ConvData) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 2, 2); err != nil {
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
		return nil, fmt.Errorf("extents %s for %d spatial axes", ShapeText(op.Spatial), len(op.Kernel))
	}
	spatial, err := op.Places(op.Spatial)
	if err != nil {
		return nil, err
	}
	for i, d := range append([]dim.Dim{w.Shape[0]}, spatial...) {
		if err := Same(g.Shape[1+i], d, "extents of the gradient, and the channels and windows"); err != nil {
			return nil, err
		}
	}
	return []ir.Type{ir.TensorOf(g.DType, append([]dim.Dim{g.Shape[0], w.Shape[1]}, op.Spatial...)...)}, nil
}

func (op ConvData) conv() Conv { return Conv{Window: op.Window, Group: 1} }

// Eval returns the gradient of the convolution's operand, [N,C,Spatial…]. It sums products in
// float64.
func (op ConvData) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	out, err := InferOf(op, in)
	if err != nil {
		return nil, err
	}
	shape, ok := out[0].Static()
	if !ok {
		return nil, fmt.Errorf("extents %s have no value", ShapeText(op.Spatial))
	}
	g, w := NumbersOf(in[0]), NumbersOf(in[1])
	n, c, m := shape[0], shape[1], in[0].Shape[1]
	taps, plane, places := LenOf(op.Kernel), LenOf(shape[2:]), LenOf(in[0].Shape[2:])
	sums := make([]float64, LenOf(shape))
	err = op.Visit(shape[2:], func(o int, cells Cells) {
		for i := range n * m {
			by := g[i*places+o]
			for k := range c {
				to, weights := sums[(i/m*c+k)*plane:][:plane], w[(i%m*c+k)*taps:][:taps]
				for t, at := range cells.At {
					to[at] += float64(by * weights[cells.Tap[t]])
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

// Flops counts a multiplication and an addition for each product of a gradient and a weight.
func (op ConvData) Flops(in, _ []ir.Type) dim.Dim {
	return in[0].Elems().Mul(dim.Product(in[1].Shape[1:]...)).Mul(dim.Const(2))
}

// Grad returns, for g, the convolution of dy with w. For the weights it returns the [ConvWeights] of dy and g.
func (op ConvData) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, want []bool) []*ir.Value {
	g, w, s := n.Arg(0), n.Arg(1), dy[0]
	grads := make([]*ir.Value, 2)
	if want[0] {
		grads[0] = b.Node(op.conv(), s, w)
	}
	if want[1] {
		grads[1] = b.Node(ConvWeights{Window: op.Window, Group: 1}, s, g)
	}
	return grads
}

// HasKernel reports whether a kernel computes the operator. The weights must be f32 over one or two spatial axes.
// No axis may have both a stride and a dilation above 1. The numbers of channels must be constant and not 0.
func (op ConvData) HasKernel(w ir.Type) bool {
	for i := range op.Kernel {
		if op.Stride(i) > 1 && op.Dilation(i) > 1 {
			return false
		}
	}
	shape, ok := w.Static()
	return ok && w.DType == ir.F32 && len(op.Kernel) <= MaxSpatial && LenOf(shape) > 0
}

// Lower replaces the node by a transposed convolution.
func (op ConvData) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	g, w := n.Arg(0), n.Arg(1)
	return []*ir.Value{op.conv().dataTransposed(b, g, w, n.Results[0].Type)}
}
