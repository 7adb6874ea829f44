package storage

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// ConvDataBlocked is an [op.ConvData] over one or two spatial axes of g, channel-blocked f32[N,⌈OutC/16⌉,spatial…,16],
// with weights packed by [PackConvData]. No axis has both a stride and a dilation above 1. The result is
// f32[N,⌈InC/16⌉,Spatial…,16]; lanes beyond InC are zero.
type ConvDataBlocked struct {
	op.Window
	InC, OutC int
	Spatial   []dim.Dim
	op.Parts
}

// Infer returns f32[N,⌈InC/16⌉,Spatial…,16].
func (o ConvDataBlocked) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := op.CheckTensors(in, 2, 2); err != nil {
		return nil, err
	}
	g, w := in[0], in[1]
	n := len(o.Kernel)
	if n < 1 || n > op.MaxSpatial || len(o.Spatial) != n || o.InC < 1 || o.OutC < 1 {
		return nil, fmt.Errorf("kernel %v over %s of %d and %d channels", o.Kernel, op.ShapeText(o.Spatial), o.InC, o.OutC)
	}
	if err := o.Check(n); err != nil {
		return nil, err
	}
	for i := range n {
		if o.Stride(i) > 1 && o.Dilation(i) > 1 {
			return nil, fmt.Errorf("axis %d has steps of %d and a dilation of %d", i, o.Stride(i), o.Dilation(i))
		}
	}
	spatial, err := o.Places(o.Spatial)
	if err != nil {
		return nil, err
	}
	if g.Rank() != 3+n {
		return nil, fmt.Errorf("gradient %s", g)
	}
	if want := op.BlockedType(g.Shape[0], dim.Const(o.OutC), spatial); !g.Equal(want) {
		return nil, fmt.Errorf("gradient %s, %s expected", g, want)
	}
	if kh, kw := o.Plane(); !w.Equal(packedData(o.InC, o.OutC, kh, kw)) {
		return nil, fmt.Errorf("packed weights %s for a kernel %v", w, o.Kernel)
	}
	return []ir.Type{op.BlockedType(g.Shape[0], dim.Const(o.InC), o.Spatial)}, nil
}

func packedData(inC, outC, kh, kw int) ir.Type {
	return ir.StaticTensor(ir.F32, (inC+block-1)/block, (outC+block-1)/block, kh, kw, block, block)
}

// Eval computes the gradient of the convolution's operand, with sums in float64.
func (o ConvDataBlocked) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	out, err := op.InferOf(o, in)
	if err != nil {
		return nil, err
	}
	shape, ok := out[0].Static()
	if !ok {
		return nil, fmt.Errorf("extents %s have no value", op.ShapeText(o.Spatial))
	}
	g, w, n := op.NumbersOf(in[0]), op.NumbersOf(in[1]), len(o.Kernel)
	outs, taps := in[0].Shape[1], op.LenOf(o.Kernel)
	plane, places := op.LenOf(shape[2:2+n]), op.LenOf(in[0].Shape[2:2+n])
	sums := make([]float64, op.LenOf(shape))
	err = o.Visit(shape[2:2+n], func(place int, c op.Cells) {
		for i := range shape[0] * shape[1] {
			image, of := i/shape[1], i%shape[1]
			for k := range outs {
				from := g[((image*outs+k)*places+place)*block:][:block]
				for t, at := range c.At {
					to := sums[(i*plane+at)*block:][:block]
					by := w[((of*outs+k)*taps+c.Tap[t])*block*block:][:block*block]
					for j, v := range from {
						for lane, u := range by[j*block:][:block] {
							to[lane] += float64(v * u)
						}
					}
				}
			}
		}
	})
	y := ir.NewTensor(ir.F32, shape...)
	for i, v := range sums {
		y.SetFloat(i, v)
	}
	return []*ir.Tensor{y}, err
}

// Flops counts two operations for each product, including products with padding and empty lanes.
func (o ConvDataBlocked) Flops(in, _ []ir.Type) dim.Dim {
	return in[0].Elems().Mul(dim.Product(in[1].Shape[0], dim.Const(op.LenOf(o.Kernel)*block))).Mul(dim.Const(2))
}

// InParts implements [op.Summer]. It returns the convolution with its sums split into partial sums. A partial sum has
// as many whole channel blocks of g as fit into `terms` terms, but at least one block. InParts returns nil if the
// sums have at most `terms` terms.
func (o ConvDataBlocked) InParts(n *ir.Node, terms int) ir.Op {
	p, several := op.SplitSum(dim.Product(n.Arg(1).Type.Shape[1:5]...), terms)
	if !several {
		return nil
	}
	o.Parts = p
	return o
}
