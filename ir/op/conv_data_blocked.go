package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// ConvDataBlocked is a [ConvData] over one or two spatial axes of g, channel-blocked
// f32[N,⌈OutC/16⌉,spatial…,16], with weights that [PackConvData] has packed, where no axis
// has steps and dilation. The result, f32[N,⌈InC/16⌉,Spatial…,16], is zero in lanes beyond
// InC.
type ConvDataBlocked struct {
	Window
	InC, OutC int
	Spatial   []ir.Dim
	Parts
}

// Infer gives the blocked type of the operand.
func (op ConvDataBlocked) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 2, 2); err != nil {
		return nil, err
	}
	g, w := in[0], in[1]
	n := len(op.Kernel)
	if n < 1 || n > maxSpatial || len(op.Spatial) != n || op.InC < 1 || op.OutC < 1 {
		return nil, fmt.Errorf("kernel %v over %s of %d and %d channels", op.Kernel, shapeText(op.Spatial), op.InC, op.OutC)
	}
	if err := op.check(n); err != nil {
		return nil, err
	}
	for i := range n {
		if op.stride(i) > 1 && op.dilation(i) > 1 {
			return nil, fmt.Errorf("axis %d has steps of %d and a dilation of %d", i, op.stride(i), op.dilation(i))
		}
	}
	spatial, err := op.shape(op.Spatial)
	if err != nil {
		return nil, err
	}
	if g.Rank() != 3+n {
		return nil, fmt.Errorf("gradient %s", g)
	}
	if want := blockedType(g.Shape[0], ir.Const(op.OutC), spatial); !g.Equal(want) {
		return nil, fmt.Errorf("gradient %s, %s expected", g, want)
	}
	if kh, kw := op.plane(); !w.Equal(packedData(op.InC, op.OutC, kh, kw)) {
		return nil, fmt.Errorf("packed weights %s for a kernel %v", w, op.Kernel)
	}
	return []ir.Type{blockedType(g.Shape[0], ir.Const(op.InC), op.Spatial)}, nil
}

// packedData is the type of weights that [PackConvData] has packed.
func packedData(inC, outC, kh, kw int) ir.Type {
	return ir.StaticTensor(ir.F32, (inC+block-1)/block, (outC+block-1)/block, kh, kw, block, block)
}

// Eval sums in float64.
func (op ConvDataBlocked) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	out, err := inferOf(op, in)
	if err != nil {
		return nil, err
	}
	shape, ok := out[0].Static()
	if !ok {
		return nil, fmt.Errorf("extents %s have no value", shapeText(op.Spatial))
	}
	g, w, n := numbersOf(in[0]), numbersOf(in[1]), len(op.Kernel)
	outs, taps := in[0].Shape[1], lenOf(op.Kernel)
	plane, places := lenOf(shape[2:2+n]), lenOf(in[0].Shape[2:2+n])
	sums := make([]float64, lenOf(shape))
	err = op.visit(shape[2:2+n], func(o int, c cells) {
		for i := range shape[0] * shape[1] {
			image, of := i/shape[1], i%shape[1]
			for k := range outs {
				from := g[((image*outs+k)*places+o)*block:][:block]
				for t, at := range c.at {
					to := sums[(i*plane+at)*block:][:block]
					by := w[((of*outs+k)*taps+c.tap[t])*block*block:][:block*block]
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

// Flops counts two operations for each product.
func (op ConvDataBlocked) Flops(in, _ []ir.Type) ir.Dim {
	return in[0].Elems().Mul(ir.Product(in[1].Shape[0], ir.Const(lenOf(op.Kernel)*block))).Mul(ir.Const(2))
}

// Call is cpu.ConvData.
func (op ConvDataBlocked) Call(n *ir.Node) (ir.Call, error) {
	shape := op.convShapeOf(n.Results[0].Type.Shape, n.Arg(0).Type.Shape, packing{op.InC, op.OutC, 1, block})
	return ir.Call{Kernel: "ConvData", Args: []any{ir.Out(0), ir.In(0), ir.In(1), op.Parts.in(shape)}}, nil
}

// InParts divides the sums between blocks of channels of g.
func (op ConvDataBlocked) InParts(n *ir.Node, terms int) ir.Op {
	p, several := parts(ir.Product(n.Arg(1).Type.Shape[1:5]...), terms)
	if !several {
		return nil
	}
	op.Parts = p
	return op
}
