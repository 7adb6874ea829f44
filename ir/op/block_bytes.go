package op

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
)

// Bytes, i8 or u8, are channel-blocked as u8: those of i8 move by 128.

// BlockBytes is x, [N,C,spatial…] of i8 or u8, with channels in blocks of Lanes, 16
// or 4, those beyond C zero: u8[N,⌈C/Lanes⌉,spatial…,Lanes]. There are at most two
// spatial axes. Pads are cells to put before the first of each, then after the last;
// nil for none. They hold the second operand, i32 of one element, or without it 0.
type BlockBytes struct {
	Lanes int
	Pads  []ir.Dim
}

// UnblockBytes is x, u8[N,⌈C/16⌉,spatial…,16], as [N,C,spatial…] of the type To, i8 or
// u8.
type UnblockBytes struct {
	C  int
	To ir.DType
}

// PadBytes puts cells before the first and after the last of each spatial axis of x,
// u8[N,⌈C/16⌉,spatial…,16], as Pads says: all befores, then all afters. They hold the
// second operand, i32 of one element, or without it 0.
type PadBytes struct{ Pads []ir.Dim }

// bytesBlocked returns the type of u8 in blocks of channels.
func bytesBlocked(n, c ir.Dim, spatial []ir.Dim, lanes int) ir.Type {
	shape := append([]ir.Dim{n, c.CeilDiv(ir.Const(lanes))}, spatial...)
	return ir.TensorOf(ir.U8, append(shape, ir.Const(lanes))...)
}

// checkFill checks the number that padding holds.
func checkFill(fill ir.Type) error {
	if !fill.IsZero() && (fill.DType != ir.I32 || !isOne(fill)) {
		return fmt.Errorf("padding %s", fill)
	}
	return nil
}

// Infer puts the lanes of a block last.
func (op BlockBytes) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 1, 2); err != nil {
		return nil, err
	}
	x := in[0]
	if err := checkFactor(x, ir.Type{}); err != nil {
		return nil, err
	}
	if x.Rank() < 2 || x.Rank() > 2+maxSpatial || op.Lanes != 4 && op.Lanes != block {
		return nil, fmt.Errorf("%s in blocks of %d", x, op.Lanes)
	}
	spatial, err := padded(x.Shape[2:], op.Pads)
	if err != nil {
		return nil, err
	}
	return []ir.Type{bytesBlocked(x.Shape[0], x.Shape[1], spatial, op.Lanes)}, checkFill(operand(in, 1))
}

// Infer drops the lanes beyond C.
func (op UnblockBytes) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 1, 1); err != nil {
		return nil, err
	}
	x := in[0]
	spatial, err := bytesSpatial(x)
	if err != nil {
		return nil, err
	}
	if op.C < 1 || op.To != ir.U8 && op.To != ir.I8 || !x.Shape[1].Equal(ir.Const(op.C).CeilDiv(ir.Const(block))) {
		return nil, fmt.Errorf("%d channels of %s in %s", op.C, op.To, x)
	}
	return []ir.Type{ir.TensorOf(op.To, append([]ir.Dim{x.Shape[0], ir.Const(op.C)}, spatial...)...)}, nil
}

// bytesSpatial returns the spatial extents of blocked bytes.
func bytesSpatial(x ir.Type) ([]ir.Dim, error) {
	if x.DType != ir.U8 || x.Rank() < 3 || x.Rank() > 3+maxSpatial || !x.Shape[x.Rank()-1].Equal(ir.Const(block)) {
		return nil, fmt.Errorf("%s is not channel-blocked", x)
	}
	return x.Shape[2 : x.Rank()-1], nil
}

// Infer adds the padding to the extents.
func (op PadBytes) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 1, 2); err != nil {
		return nil, err
	}
	x := in[0]
	spatial, err := bytesSpatial(x)
	if err != nil {
		return nil, err
	}
	if spatial, err = padded(spatial, op.Pads); err != nil {
		return nil, err
	}
	shape := slices.Concat(x.Shape[:2], spatial, x.Shape[x.Rank()-1:])
	return []ir.Type{ir.TensorOf(ir.U8, shape...)}, checkFill(operand(in, 1))
}

// Eval moves the elements.
func (op BlockBytes) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	return evalFilled(op, in, op.Pads, op.Lanes, func(set func(channel int, at []int, v int64)) {
		channels, plane := x.Shape[1], lenOf(x.Shape[2:])
		for i := range x.Len() {
			at := placeOf(i%max(plane, 1), x.Shape[2:])
			set(i/plane/channels*((channels+op.Lanes-1)/op.Lanes*op.Lanes)+i/plane%channels, at, moved(x.Int(i), x.DType, ir.U8))
		}
	})
}

// Eval copies the elements.
func (op PadBytes) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	return evalFilled(op, in, op.Pads, block, func(set func(channel int, at []int, v int64)) {
		spatial := x.Shape[2 : len(x.Shape)-1]
		plane := lenOf(spatial)
		for i := range x.Len() {
			set(i/block/plane*block+i%block, placeOf(i/block%plane, spatial), x.Int(i))
		}
	})
}

// placeOf returns where element i lies in a row-major tensor.
func placeOf(i int, shape []int) []int {
	at := make([]int, len(shape))
	for axis := len(shape) - 1; axis >= 0; axis-- {
		at[axis] = i % shape[axis]
		i /= shape[axis]
	}
	return at
}

// evalFilled makes the blocked result of an operator that pads; f sets the elements,
// channels being counted through all images, with their empty lanes. Padding of
// lanes without a channel is not told apart: it holds the second operand.
func evalFilled(op ir.Op, in []*ir.Tensor, pads []ir.Dim, lanes int, f func(set func(channel int, at []int, v int64))) ([]*ir.Tensor, error) {
	out, err := inferOf(op, in)
	if err != nil {
		return nil, err
	}
	before, ok := ir.Ints(pads)
	if !ok {
		return nil, fmt.Errorf("pads %v have no value", pads)
	}
	shape, _ := out[0].Static()
	y := ir.NewTensor(ir.U8, shape...)
	spatial := shape[2 : len(shape)-1]
	plane := lenOf(spatial)
	inner := make([]bool, plane)
	place := func(at []int) (o int) {
		for axis, i := range at {
			if len(before) > 0 {
				i += before[axis]
			}
			o = o*spatial[axis] + i
		}
		return o
	}
	var extents []int
	for axis, d := range spatial {
		if len(before) > 0 {
			d -= before[axis] + before[len(spatial)+axis]
		}
		extents = append(extents, d)
	}
	for i := range lenOf(extents) {
		inner[place(placeOf(i, extents))] = true
	}
	fill := int64(uint8(zeroAt(operandOf(in, 1), 0)))
	for i := range y.Len() {
		if !inner[i/lanes%plane] {
			y.SetInt(i, fill)
		}
	}
	f(func(channel int, at []int, v int64) {
		y.SetInt((channel/lanes*plane+place(at))*lanes+channel%lanes, v)
	})
	return []*ir.Tensor{y}, nil
}

// Eval moves the elements.
func (op UnblockBytes) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	out, err := inferOf(op, in)
	if err != nil {
		return nil, err
	}
	shape, _ := out[0].Static()
	y := ir.NewTensor(op.To, shape...)
	plane, blocks := lenOf(shape[2:]), x.Shape[1]
	for i := range y.Len() {
		image, c := i/plane/op.C, i/plane%op.C
		from := ((image*blocks+c/block)*plane+i%plane)*block + c%block
		y.SetInt(i, moved(x.Int(from), ir.U8, op.To))
	}
	return []*ir.Tensor{y}, nil
}

// Call is cpu.BlockBytes.
func (op BlockBytes) Call(n *ir.Node) (ir.Call, error) {
	x := n.Arg(0).Type.Shape
	h, w := plane(x[2:])
	return ir.Call{Kernel: "BlockBytes", Args: []any{ir.Out(0), ir.In(0), ir.In(1), x[0], x[1], h, w, op.Lanes, planePads(op.Pads)}}, nil
}

// Call is cpu.UnblockBytes.
func (op UnblockBytes) Call(n *ir.Node) (ir.Call, error) {
	x := n.Arg(0).Type.Shape
	return ir.Call{Kernel: "UnblockBytes", Args: []any{ir.Out(0), ir.In(0), x[0], op.C, ir.Product(x[2 : len(x)-1]...)}}, nil
}

// Call is cpu.PadBytes.
func (op PadBytes) Call(n *ir.Node) (ir.Call, error) {
	x := n.Arg(0).Type.Shape
	h, w := plane(x[2 : len(x)-1])
	return ir.Call{Kernel: "PadBytes", Args: []any{ir.Out(0), ir.In(0), ir.In(1), x[0].Mul(x[1]), h, w, planePads(op.Pads)}}, nil
}

// EmptyLanes are zero.
func (BlockBytes) EmptyLanes(*ir.Node) []float64 { return []float64{0} }
