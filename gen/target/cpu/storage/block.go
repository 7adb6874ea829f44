package storage

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// BlockLanes is the number of channels in a block.
const BlockLanes = op.BlockLanes

const block = BlockLanes

// Block converts x, f32[N,C,spatial…], to channel blocks of 16: f32[N,⌈C/16⌉,spatial…,16]. Lanes
// beyond C are zero. There are at most two spatial axes.
type Block struct{}

// Unblock converts x, f32[N,⌈C/16⌉,spatial…,16], to f32[N,C,spatial…].
type Unblock struct{ C int }

// Infer returns f32[N,⌈C/16⌉,spatial…,16].
func (o Block) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := op.CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	x := in[0]
	if x.DType != ir.F32 || x.Rank() < 2 || x.Rank() > 2+op.MaxSpatial {
		return nil, fmt.Errorf("%s cannot be channel-blocked", x)
	}
	return []ir.Type{op.BlockedType(x.Shape[0], x.Shape[1], x.Shape[2:])}, nil
}

// Eval copies the elements of x into blocks. Lanes beyond C are zero.
func (o Block) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	out, err := op.InferOf(o, in)
	if err != nil {
		return nil, err
	}
	shape, _ := out[0].Static()
	y := ir.NewTensor(ir.F32, shape...)
	channels, plane := x.Shape[1], op.LenOf(x.Shape[2:])
	for i := range x.Len() {
		n, c, at := i/plane/channels, i/plane%channels, i%plane
		y.Copy(((n*shape[1]+c/block)*plane+at)*block+c%block, x, i)
	}
	return []*ir.Tensor{y}, nil
}

// Infer returns f32[N,C,spatial…].
func (o Unblock) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := op.CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	x := in[0]
	end, err := op.SpatialEnd(x, true)
	if err != nil {
		return nil, err
	}
	if !x.Shape[1].Equal(dim.Const(o.C).CeilDiv(dim.Const(block))) {
		return nil, fmt.Errorf("%d channels in %s", o.C, x)
	}
	shape := append([]dim.Dim{x.Shape[0], dim.Const(o.C)}, x.Shape[2:end]...)
	return []ir.Type{ir.TensorOf(ir.F32, shape...)}, nil
}

// Eval copies the elements of the channels and drops the lanes beyond C.
func (o Unblock) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	out, err := op.InferOf(o, in)
	if err != nil {
		return nil, err
	}
	shape, _ := out[0].Static()
	y := ir.NewTensor(ir.F32, shape...)
	blocks, plane := x.Shape[1], op.LenOf(shape[2:])
	for i := range y.Len() {
		n, c, at := i/plane/o.C, i/plane%o.C, i%plane
		y.Copy(i, x, ((n*blocks+c/block)*plane+at)*block+c%block)
	}
	return []*ir.Tensor{y}, nil
}

// blockVector returns v, f32[n], padded with zeros to a multiple of 16.
func blockVector(b *ir.Builder, v *ir.Value) *ir.Value {
	n := v.Type.Shape[0]
	if n.Mod(dim.Const(block)).Equal(dim.Const(0)) {
		return v
	}
	wide := b.Node(Block{}, b.Node(op.Reshape{Shape: []dim.Dim{dim.Const(1), n}}, v))
	return b.Node(op.Reshape{Shape: []dim.Dim{wide.Type.Elems()}}, wide)
}

// IsMemoryBound marks the operator as an [op.MemoryBound]: memory bandwidth limits its speed.
func (Block) IsMemoryBound() {}

// IsMemoryBound marks the operator as an [op.MemoryBound]: memory bandwidth limits its speed.
func (Unblock) IsMemoryBound() {}

// EmptyLanes returns zero. The lanes beyond the last channel hold zero.
func (Block) EmptyLanes(*ir.Node) []float64 { return []float64{0} }
