package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// ConvBlocked is a convolution over one or two spatial axes of x, channel-blocked
// f32[N,⌈InC/16⌉,spatial…,16] or planar f32[N,InC,spatial…], with weights that
// [PackConv] has packed, and an [Epilogue]. The result is channel-blocked, its
// lanes beyond OutC zero where those of the residual are.
type ConvBlocked struct {
	Window
	InC, OutC, Group int
	Parts
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
	spatial, err := op.over(x)
	if err != nil {
		return nil, err
	}
	if x.DType != ir.F32 || !x.Shape[1].Equal(ir.Const(p.inBlocks())) {
		return nil, fmt.Errorf("%s for %d channels", x, op.InC)
	}
	if kh, kw := op.plane(); !w.Equal(p.packed(kh, kw)) {
		return nil, fmt.Errorf("packed weights %s for a kernel %v", w, op.Kernel)
	}
	y := blockedType(x.Shape[0], ir.Const(op.OutC), spatial)
	return []ir.Type{y}, op.Epilogue.check(in, blocks, ir.Const(p.outBlocks()*block), y)
}

// packing returns how the weights are packed for an operand.
func (op ConvBlocked) packing(x ir.Type) packing {
	inBlock := 1
	if x.Rank() == 3+len(op.Kernel) {
		inBlock = block
	}
	return packing{op.InC, op.OutC, op.Group, inBlock}
}

// over returns the spatial extents of a convolution over one or two axes of x.
func (w Window) over(x ir.Type) ([]ir.Dim, error) {
	n := len(w.Kernel)
	if n < 1 || n > maxSpatial || x.Rank() < 2+n {
		return nil, fmt.Errorf("kernel %v over %s", w.Kernel, x)
	}
	if err := w.check(n); err != nil {
		return nil, err
	}
	return w.shape(x.Shape[2 : 2+n])
}

// plane returns the kernel of a window over one or two axes as that of a plane.
func (w Window) plane() (kh, kw int) {
	if len(w.Kernel) == 1 {
		return 1, w.Kernel[0]
	}
	return w.Kernel[0], w.Kernel[1]
}

// EvalBlocks sums in float64.
func (op ConvBlocked) EvalBlocks(in []*ir.Tensor, blocks []*ir.Block, _ func(*ir.Block, []*ir.Tensor) ([]*ir.Tensor, error)) ([]*ir.Tensor, error) {
	out, shape, err := evalTypes(op, in, blocks)
	if err != nil {
		return nil, err
	}
	x, w := numbersOf(in[0]), numbersOf(in[1])
	p := op.packing(in[0].Type())
	width, kernel, spatial := in[1].Shape[1], in[1].Shape[2]*in[1].Shape[3], len(op.Kernel)
	inSpatial := in[0].Shape[2 : 2+spatial]
	inPlane, outPlane, ib := lenOf(inSpatial), lenOf(shape[2:2+spatial]), p.inBlock
	sums := make([]float64, out.Len())
	err = op.visit(inSpatial, func(o int, c cells) {
		for n := range shape[0] {
			for m := range shape[1] {
				sum := sums[((n*shape[1]+m)*outPlane+o)*block:][:block]
				first, last := p.reach(m)
				for k := range last - first {
					for t, at := range c.at {
						from := x[((n*p.inBlocks()+first+k)*inPlane+at)*ib:][:ib]
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
	shape := op.convShape(n, op.packing(n.Arg(0).Type))
	return ir.Call{Kernel: "Conv", Args: []any{ir.Out(0), ir.In(0), ir.In(1), op.Parts.in(shape), op.call(n)}}, nil
}

// InParts divides the sums between blocks of channels of x.
func (op ConvBlocked) InParts(n *ir.Node, terms int) ir.Op {
	p, several := parts(ir.Product(n.Arg(1).Type.Shape[1:5]...), terms)
	if !several {
		return nil
	}
	op.Parts = p
	return op
}

// convShape returns the kernels' cpu.ConvShape of n.
func (w Window) convShape(n *ir.Node, p packing) ir.Struct {
	return w.convShapeOf(n.Arg(0).Type.Shape, n.Results[0].Type.Shape, p)
}

// convShapeOf returns the cpu.ConvShape of a convolution of x to y, shapes whose spatial
// axes begin with the third.
func (w Window) convShapeOf(x, y []ir.Dim, p packing) ir.Struct {
	spatial := len(w.Kernel)
	inH, inW := plane(x[2 : 2+spatial])
	outH, outW := plane(y[2 : 2+spatial])
	kh, kw := w.plane()
	strideH, strideW := plane(ir.Dims(w.strides(spatial)...))
	dilH, dilW := plane(ir.Dims(w.dilations(spatial)...))
	pads := planePads(w.pads(x[2 : 2+spatial]))
	return ir.Struct{Type: "ConvShape", Fields: []ir.Field{
		{Name: "N", Value: x[0]},
		{Name: "InC", Value: p.inC},
		{Name: "InH", Value: inH},
		{Name: "InW", Value: inW},
		{Name: "InBlock", Value: p.inBlock},
		{Name: "OutC", Value: p.outC},
		{Name: "OutH", Value: outH},
		{Name: "OutW", Value: outW},
		{Name: "KH", Value: kh},
		{Name: "KW", Value: kw},
		{Name: "StrideH", Value: strideH},
		{Name: "StrideW", Value: strideW},
		{Name: "DilH", Value: dilH},
		{Name: "DilW", Value: dilW},
		{Name: "PadH", Value: pads[0]},
		{Name: "PadW", Value: pads[1]},
		{Name: "Group", Value: p.group},
	}}
}

// WithEnding replaces the epilogue.
func (op ConvBlocked) WithEnding(e Epilogue) ir.Op {
	op.Epilogue = e
	return op
}

// BlockedChannels are OutC.
func (op ConvBlocked) BlockedChannels() (channels int, blocked bool) { return op.OutC, true }

// EmptyLanes are zero.
func (ConvBlocked) EmptyLanes(*ir.Node) []float64 { return []float64{0} }
