package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// Block is x, f32[N,C,spatial…], with channels in blocks of 16, those beyond C
// zero: f32[N,⌈C/16⌉,spatial…,16]. There are at most two spatial axes.
type Block struct{}

// Unblock is x, f32[N,⌈C/16⌉,spatial…,16], as f32[N,C,spatial…].
type Unblock struct{ C int }

// maxSpatial is the number of spatial axes that kernels know.
const maxSpatial = 2

// Infer puts the lanes of a block last.
func (op Block) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 1, 1); err != nil {
		return nil, err
	}
	x := in[0]
	if x.DType != ir.F32 || x.Rank() < 2 || x.Rank() > 2+maxSpatial {
		return nil, fmt.Errorf("%s cannot be channel-blocked", x)
	}
	return []ir.Type{blockedType(x.Shape[0], x.Shape[1], x.Shape[2:])}, nil
}

// blockedType returns the type of a channel-blocked tensor.
func blockedType(n, c ir.Dim, spatial []ir.Dim) ir.Type {
	shape := append([]ir.Dim{n, c.CeilDiv(ir.Const(block))}, spatial...)
	return ir.TensorOf(ir.F32, append(shape, ir.Const(block))...)
}

// Eval moves the elements.
func (op Block) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	out, err := inferOf(op, in)
	if err != nil {
		return nil, err
	}
	shape, _ := out[0].Static()
	y := ir.NewTensor(ir.F32, shape...)
	channels, plane := x.Shape[1], lenOf(x.Shape[2:])
	for i := range x.Len() {
		n, c, at := i/plane/channels, i/plane%channels, i%plane
		y.Copy(((n*shape[1]+c/block)*plane+at)*block+c%block, x, i)
	}
	return []*ir.Tensor{y}, nil
}

// Call is cpu.Block.
func (op Block) Call(n *ir.Node) (ir.Call, error) {
	x := n.Arg(0).Type.Shape
	h, w := plane(x[2:])
	return ir.Call{Kernel: "Block", Args: []any{ir.Out(0), ir.In(0), x[0], x[1], h, w}}, nil
}

// plane returns at most two spatial extents as a height and a width.
func plane(spatial []ir.Dim) (h, w ir.Dim) {
	h, w = ir.Const(1), ir.Const(1)
	switch len(spatial) {
	case 1:
		w = spatial[0]
	case maxSpatial:
		h, w = spatial[0], spatial[1]
	}
	return h, w
}

// planePads returns padding as that of a plane: top, left, bottom, right.
func planePads(pads []ir.Dim) []ir.Dim {
	out := ir.Dims(0, 0, 0, 0)
	switch len(pads) {
	case 2:
		out[1], out[3] = pads[0], pads[1]
	case 2 * maxSpatial:
		copy(out, pads)
	}
	return out
}

// Infer drops the lanes beyond C.
func (op Unblock) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 1, 1); err != nil {
		return nil, err
	}
	x := in[0]
	end, err := spatialEnd(x, true)
	if err != nil {
		return nil, err
	}
	if !x.Shape[1].Equal(ir.Const(op.C).CeilDiv(ir.Const(block))) {
		return nil, fmt.Errorf("%d channels in %s", op.C, x)
	}
	shape := append([]ir.Dim{x.Shape[0], ir.Const(op.C)}, x.Shape[2:end]...)
	return []ir.Type{ir.TensorOf(ir.F32, shape...)}, nil
}

// Eval moves the elements.
func (op Unblock) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	out, err := inferOf(op, in)
	if err != nil {
		return nil, err
	}
	shape, _ := out[0].Static()
	y := ir.NewTensor(ir.F32, shape...)
	blocks, plane := x.Shape[1], lenOf(shape[2:])
	for i := range y.Len() {
		n, c, at := i/plane/op.C, i/plane%op.C, i%plane
		y.Copy(i, x, ((n*blocks+c/block)*plane+at)*block+c%block)
	}
	return []*ir.Tensor{y}, nil
}

// Call is cpu.Unblock.
func (op Unblock) Call(n *ir.Node) (ir.Call, error) {
	y := n.Results[0].Type.Shape
	h, w := plane(y[2:])
	return ir.Call{Kernel: "Unblock", Args: []any{ir.Out(0), ir.In(0), y[0], y[1], h, w}}, nil
}

// blockVector returns v, f32[n], padded with zeros to a multiple of 16.
func blockVector(b *ir.Builder, v *ir.Value) *ir.Value {
	n := v.Type.Shape[0]
	if n.Mod(ir.Const(block)).Equal(ir.Const(0)) {
		return v
	}
	wide := b.Node(Block{}, b.Node(Reshape{Shape: []ir.Dim{ir.Const(1), n}}, v))
	return b.Node(Reshape{Shape: []ir.Dim{wide.Type.Elems()}}, wide)
}

// IsMemoryBound marks the operator.
func (Block) IsMemoryBound() {}

// IsMemoryBound marks the operator.
func (Unblock) IsMemoryBound() {}

// EmptyLanes are zero.
func (Block) EmptyLanes(*ir.Node) []float64 { return []float64{0} }
