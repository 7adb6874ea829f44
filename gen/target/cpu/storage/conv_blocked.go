package storage

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// ConvBlocked is a convolution over one or two spatial axes of x, with weights packed by [PackConv]
// and an [op.Epilogue]. x is channel-blocked, f32[N,⌈InC/16⌉,spatial…,16], or planar,
// f32[N,InC,spatial…]. The result is channel-blocked. Its lanes beyond OutC are zero if these lanes
// of the residual are zero.
type ConvBlocked struct {
	op.Window
	InC, OutC, Group int
	op.Parts
	op.Epilogue
}

// Infer is InferBlocks without a fused region.
func (o ConvBlocked) Infer(in []ir.Type) ([]ir.Type, error) { return o.InferBlocks(in, nil) }

// Eval is EvalBlocks without a fused region.
func (o ConvBlocked) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return o.EvalBlocks(in, nil, nil)
}

// InferBlocks returns f32[N,⌈OutC/16⌉,spatial…,16], where the spatial extents are the numbers of
// windows.
func (o ConvBlocked) InferBlocks(in []ir.Type, blocks []*ir.Block) ([]ir.Type, error) {
	if err := op.CheckOperands(in, 2, -1); err != nil {
		return nil, err
	}
	x, w := in[0], in[1]
	p := o.Packing(x)
	if err := p.check(); err != nil {
		return nil, err
	}
	if p.InBlock == block {
		if _, err := op.SpatialEnd(x, true); err != nil {
			return nil, err
		}
	}
	spatial, err := o.Over(x)
	if err != nil {
		return nil, err
	}
	if x.DType != ir.F32 || !x.Shape[1].Equal(dim.Const(p.inBlocks())) {
		return nil, fmt.Errorf("%s for %d channels", x, o.InC)
	}
	if kh, kw := o.Plane(); !w.Equal(p.packed(kh, kw)) {
		return nil, fmt.Errorf("packed weights %s for a kernel %v", w, o.Kernel)
	}
	y := op.BlockedType(x.Shape[0], dim.Const(o.OutC), spatial)
	return []ir.Type{y}, o.Epilogue.Check(in, blocks, dim.Const(p.outBlocks()*block), y)
}

// Packing returns how the weights are packed for an operand of type x.
func (o ConvBlocked) Packing(x ir.Type) Packing {
	inBlock := 1
	if x.Rank() == 3+len(o.Kernel) {
		inBlock = block
	}
	return Packing{o.InC, o.OutC, o.Group, inBlock}
}

// EvalBlocks computes the convolution with sums in float64, and then the epilogue.
func (o ConvBlocked) EvalBlocks(in []*ir.Tensor, blocks []*ir.Block, _ func(*ir.Block, []*ir.Tensor) ([]*ir.Tensor, error)) ([]*ir.Tensor, error) {
	out, shape, err := op.EvalTypes(o, in, blocks)
	if err != nil {
		return nil, err
	}
	x, w := op.NumbersOf(in[0]), op.NumbersOf(in[1])
	p := o.Packing(in[0].Type())
	width, kernel, spatial := in[1].Shape[1], in[1].Shape[2]*in[1].Shape[3], len(o.Kernel)
	inSpatial := in[0].Shape[2 : 2+spatial]
	inPlane, outPlane, ib := op.LenOf(inSpatial), op.LenOf(shape[2:2+spatial]), p.InBlock
	sums := make([]float64, out.Len())
	err = o.Visit(inSpatial, func(place int, c op.Cells) {
		for n := range shape[0] {
			for m := range shape[1] {
				sum := sums[((n*shape[1]+m)*outPlane+place)*block:][:block]
				first, last := p.reach(m)
				for k := range last - first {
					for t, at := range c.At {
						from := x[((n*p.inBlocks()+first+k)*inPlane+at)*ib:][:ib]
						by := w[((m*width+k)*kernel+c.Tap[t])*ib*block:][:ib*block]
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
	return evalBlockedSums(o.Epilogue, sums, shape, o.OutC, in, blocks)
}

// evalBlockedSums applies an epilogue to the sums of a channel-blocked result of this shape. It sets
// the lanes beyond channels to zero, unless [op.Epilogue.KeepsZero] is true.
func evalBlockedSums(e op.Epilogue, sums []float64, shape []int, channels int, in []*ir.Tensor, blocks []*ir.Block) ([]*ir.Tensor, error) {
	plane := op.LenOf(shape[2:])
	channel := func(i int) int { return i/plane%shape[1]*block + i%block }
	y, err := e.Apply(sums, shape, in, blocks, channel)
	if err != nil {
		return nil, err
	}
	if !e.KeepsZero(blocks) {
		for i := range y.Len() {
			if channel(i) >= channels {
				y.SetFloat(i, 0)
			}
		}
	}
	return []*ir.Tensor{y}, nil
}

// Overwrites implements [ir.Overwriter]: the result may reuse the memory of the residual.
func (ConvBlocked) Overwrites() []int { return []int{op.ResidualArg} }

// Flops counts two operations for each product, including products with padding.
func (ConvBlocked) Flops(in, out []ir.Type) dim.Dim {
	return out[0].Elems().Mul(dim.Product(in[1].Shape[1:5]...)).Mul(dim.Const(2))
}

// InParts implements [op.Summer]. It returns the convolution with its sums split into partial sums. A partial sum has
// as many whole channel blocks of x as fit into `terms` terms, but at least one block. InParts returns nil if the
// sums have at most `terms` terms.
func (o ConvBlocked) InParts(n *ir.Node, terms int) ir.Op {
	p, several := op.SplitSum(dim.Product(n.Arg(1).Type.Shape[1:5]...), terms)
	if !several {
		return nil
	}
	o.Parts = p
	return o
}

// WithEnding implements [op.EpilogueHost]: it returns the operator with epilogue e.
func (o ConvBlocked) WithEnding(e op.Epilogue) ir.Op {
	o.Epilogue = e
	return o
}

// Bias implements [op.EpilogueHost]. It returns v as a vector with an element for each lane of the blocks. It returns
// nil unless v has one number for each channel and is known to be zero in the lanes beyond the channels.
func (o ConvBlocked) Bias(b *ir.Builder, n *ir.Node, v *ir.Value) *ir.Value {
	return blockedBias(b, n.Results[0].Type, o.OutC, v)
}

// EmptyLanes returns a list of one number, zero: the lanes beyond the last channel hold zero if the node has no
// residual. Nodes get a residual only after the pass that asks for their lanes.
func (ConvBlocked) EmptyLanes(*ir.Node) []float64 { return []float64{0} }
