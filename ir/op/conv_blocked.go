package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// ConvBlocked is a convolution without padding of x, channel-blocked
// f32[N,⌈InC/16⌉,spatial…,16] or planar f32[N,InC,spatial…], with weights that
// [PackConv] has packed, and an [Epilogue]. The result is channel-blocked, its
// lanes beyond OutC zero where those of the residual are. Strides and Dilations
// have an element for each of the one or two spatial axes.
type ConvBlocked struct {
	Strides, Dilations []int
	InC, OutC, Group   int
	Epilogue
}

// Infer is InferBlocks without a region.
func (op ConvBlocked) Infer(in []ir.Type) ([]ir.Type, error) { return op.InferBlocks(in, nil) }

// Eval is EvalBlocks without a region.
func (op ConvBlocked) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return op.EvalBlocks(in, nil, nil)
}

// InferBlocks computes the spatial extents.
func (op ConvBlocked) InferBlocks(in []ir.Type, blocks []*ir.Block) ([]ir.Type, error) {
	if err := operands(in, 2, -1); err != nil {
		return nil, err
	}
	x, w := in[0], in[1]
	p := op.packing(x)
	if err := p.check(); err != nil {
		return nil, err
	}
	if p.inBlock == block {
		if _, err := spatialEnd(x, true); err != nil {
			return nil, err
		}
	}
	if x.DType != ir.F32 || x.Rank() < 2+len(op.Strides) || !x.Shape[1].Equal(ir.Const(p.inBlocks())) {
		return nil, fmt.Errorf("%s for %d channels and strides %v", x, op.InC, op.Strides)
	}
	kernel, ok := ir.Ints(w.Shape)
	if !ok || len(kernel) != 6 || !w.Equal(p.packed(kernel[2], kernel[3])) {
		return nil, fmt.Errorf("packed weights %s", w)
	}
	spatial, err := validWindow(op.Strides, op.Dilations, kernel[2:4], x)
	if err != nil {
		return nil, err
	}
	y := blockedType(x.Shape[0], ir.Const(op.OutC), spatial)
	return []ir.Type{y}, op.check(in, blocks, ir.Const(p.outBlocks()*block), y)
}

// packing returns how the weights are packed for an operand.
func (op ConvBlocked) packing(x ir.Type) packing {
	inBlock := 1
	if x.Rank() == 3+len(op.Strides) {
		inBlock = block
	}
	return packing{op.InC, op.OutC, op.Group, inBlock}
}

// validWindow returns the spatial extents of a convolution without padding.
// kernel has two elements.
func validWindow(strides, dilations, kernel []int, x ir.Type) ([]ir.Dim, error) {
	n := len(strides)
	if n < 1 || n > maxSpatial || len(dilations) != n || x.Rank() < 2+n || n == 1 && kernel[0] != 1 {
		return nil, fmt.Errorf("strides %v, dilations %v, kernel %v over %s", strides, dilations, kernel, x)
	}
	w := Window{Kernel: kernel[maxSpatial-n:], Strides: strides, Dilations: dilations}
	if err := w.check(n); err != nil {
		return nil, err
	}
	return w.shape(x.Shape[2 : 2+n])
}

// EvalBlocks sums in float64.
func (op ConvBlocked) EvalBlocks(in []*ir.Tensor, blocks []*ir.Block, _ func(*ir.Block, []*ir.Tensor) ([]*ir.Tensor, error)) ([]*ir.Tensor, error) {
	out, shape, err := evalTypes(op, in, blocks)
	if err != nil {
		return nil, err
	}
	x, w := numbersOf(in[0]), numbersOf(in[1])
	p := op.packing(in[0].Type())
	width, kernel, spatial := in[1].Shape[1], in[1].Shape[2]*in[1].Shape[3], len(op.Strides)
	inSpatial := in[0].Shape[2 : 2+spatial]
	inPlane, outPlane, ib := lenOf(inSpatial), lenOf(shape[2:2+spatial]), p.inBlock
	window := Window{Kernel: in[1].Shape[4-spatial : 4], Strides: op.Strides, Dilations: op.Dilations}
	sums := make([]float64, out.Len())
	err = window.visit(inSpatial, func(o int, c cells) {
		for n := range shape[0] {
			for m := range shape[1] {
				sum := sums[((n*shape[1]+m)*outPlane+o)*block:][:block]
				first := n*p.inBlocks() + p.first(m, width)
				for k := range width {
					for t, at := range c.at {
						from := x[((first+k)*inPlane+at)*ib:][:ib]
						by := w[((m*width+k)*kernel+c.tap[t])*ib*block:][:ib*block]
						for i, v := range from {
							for lane, u := range by[i*block:][:block] {
								sum[lane] += float64(v * u)
							}
						}
					}
				}
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return evalBlockedSums(op.Epilogue, sums, shape, op.OutC, in, blocks)
}

// evalTypes returns an empty result of a region operator, and its shape.
func evalTypes(op ir.RegionOp, in []*ir.Tensor, blocks []*ir.Block) (y *ir.Tensor, shape []int, err error) {
	types := make([]ir.Type, len(in))
	for i, t := range in {
		if t != nil {
			types[i] = t.Type()
		}
	}
	out, err := op.InferBlocks(types, blocks)
	if err != nil {
		return nil, nil, err
	}
	shape, _ = out[0].Static()
	return ir.NewTensor(out[0].DType, shape...), shape, nil
}

// evalBlockedSums applies an epilogue to channel-blocked sums over channels.
func evalBlockedSums(e Epilogue, sums []float64, shape []int, channels int, in []*ir.Tensor, blocks []*ir.Block) ([]*ir.Tensor, error) {
	plane := lenOf(shape[2:])
	channel := func(i int) int { return i/plane%shape[1]*block + i%block }
	y, err := e.eval(sums, shape, in, blocks, channel)
	if err != nil {
		return nil, err
	}
	if !e.zeroStays(blocks) {
		for i := range y.Len() {
			if channel(i) >= channels {
				y.SetFloat(i, 0)
			}
		}
	}
	return []*ir.Tensor{y}, nil
}

// Overwrites lists the residual.
func (ConvBlocked) Overwrites() []int { return []int{residualArg} }

// Flops counts two operations for each product, those with padding included.
func (ConvBlocked) Flops(in, out []ir.Type) ir.Dim {
	return out[0].Elems().Mul(ir.Product(in[1].Shape[1:5]...)).Mul(ir.Const(2))
}

// Call is cpu.Conv.
func (op ConvBlocked) Call(n *ir.Node) (ir.Call, error) {
	p := op.packing(n.Arg(0).Type)
	shape := convShape(n, op.Strides, op.Dilations, p, n.Arg(1).Type.Shape[2:4])
	return ir.Call{Kernel: "Conv", Args: []any{ir.Out(0), ir.In(0), ir.In(1), shape, op.call(n)}}, nil
}

// convShape returns the kernels' cpu.ConvShape of n.
func convShape(n *ir.Node, strides, dilations []int, p packing, kernel []ir.Dim) ir.Struct {
	spatial := len(strides)
	x, y := n.Arg(0).Type.Shape, n.Results[0].Type.Shape
	inH, inW := plane(x[2 : 2+spatial])
	outH, outW := plane(y[2 : 2+spatial])
	strideH, strideW := plane(ir.Dims(strides...))
	dilH, dilW := plane(ir.Dims(dilations...))
	return ir.Struct{Type: "ConvShape", Fields: []ir.Field{
		{Name: "N", Value: x[0]},
		{Name: "InC", Value: p.inC},
		{Name: "InH", Value: inH},
		{Name: "InW", Value: inW},
		{Name: "InBlock", Value: p.inBlock},
		{Name: "OutC", Value: p.outC},
		{Name: "OutH", Value: outH},
		{Name: "OutW", Value: outW},
		{Name: "KH", Value: kernel[0]},
		{Name: "KW", Value: kernel[1]},
		{Name: "StrideH", Value: strideH},
		{Name: "StrideW", Value: strideW},
		{Name: "DilH", Value: dilH},
		{Name: "DilW", Value: dilW},
		{Name: "Group", Value: p.group},
	}}
}
