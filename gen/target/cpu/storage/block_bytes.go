package storage

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// Bytes, i8 or u8, are channel-blocked as u8. Elements of i8 are shifted by 128.

// BlockBytes converts x, [N,C,spatial…] of i8 or u8, to channel blocks of Lanes, 16 or 4:
// u8[N,⌈C/Lanes⌉,spatial…,Lanes]. Elements of i8 are shifted by 128. Lanes beyond C are zero. There are at most two
// spatial axes. Pads lists the cells to insert before each axis, then the cells to insert after each axis; nil means no
// padding. The padding has the value of the optional second operand, i32 of one element, or 0, in all lanes.
type BlockBytes struct {
	Lanes int
	Pads  []dim.Dim
}

// UnblockBytes converts x, u8[N,⌈C/16⌉,spatial…,16], to [N,C,spatial…] of type To, i8 or u8.
type UnblockBytes struct {
	C  int
	To ir.DType
}

// PadBytes pads the spatial axes of x, u8[N,⌈C/16⌉,spatial…,16]. Pads lists the cells to insert
// before each axis, then the cells to insert after each axis. The padding has the value of the
// optional second operand, i32 of one element, or 0.
type PadBytes struct{ Pads []dim.Dim }

// bytesBlocked returns the type of n images of u8 with c channels in blocks of `lanes` channels.
func bytesBlocked(n, c dim.Dim, spatial []dim.Dim, lanes int) ir.Type {
	shape := append([]dim.Dim{n, c.CeilDiv(dim.Const(lanes))}, spatial...)
	return ir.TensorOf(ir.U8, append(shape, dim.Const(lanes))...)
}

func checkFill(fill ir.Type) error {
	if !fill.IsZero() && (fill.DType != ir.I32 || !op.HasOneElement(fill)) {
		return fmt.Errorf("padding %s", fill)
	}
	return nil
}

// Infer returns u8[N,⌈C/Lanes⌉,spatial…,Lanes], where the spatial extents include the padding.
func (o BlockBytes) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := op.CheckTensors(in, 1, 2); err != nil {
		return nil, err
	}
	x := in[0]
	if err := op.CheckFactor(x, ir.Type{}); err != nil {
		return nil, err
	}
	if x.Rank() < 2 || x.Rank() > 2+op.MaxSpatial || o.Lanes != 4 && o.Lanes != block {
		return nil, fmt.Errorf("%s in blocks of %d", x, o.Lanes)
	}
	spatial, err := padded(x.Shape[2:], o.Pads)
	if err != nil {
		return nil, err
	}
	return []ir.Type{bytesBlocked(x.Shape[0], x.Shape[1], spatial, o.Lanes)}, checkFill(op.Operand(in, 1))
}

// Infer returns [N,C,spatial…] of type To.
func (o UnblockBytes) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := op.CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	x := in[0]
	spatial, err := bytesSpatial(x)
	if err != nil {
		return nil, err
	}
	if o.C < 1 || o.To != ir.U8 && o.To != ir.I8 || !x.Shape[1].Equal(dim.Const(o.C).CeilDiv(dim.Const(block))) {
		return nil, fmt.Errorf("%d channels of %s in %s", o.C, o.To, x)
	}
	return []ir.Type{ir.TensorOf(o.To, append([]dim.Dim{x.Shape[0], dim.Const(o.C)}, spatial...)...)}, nil
}

// bytesSpatial returns the spatial extents of bytes in channel blocks of 16. It returns an error if
// x is not of this form.
func bytesSpatial(x ir.Type) ([]dim.Dim, error) {
	if x.DType != ir.U8 || x.Rank() < 3 || x.Rank() > 3+op.MaxSpatial || !x.Shape[x.Rank()-1].Equal(dim.Const(block)) {
		return nil, fmt.Errorf("%s is not channel-blocked", x)
	}
	return x.Shape[2 : x.Rank()-1], nil
}

// Infer returns the type of x with the padding added to the spatial extents.
func (o PadBytes) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := op.CheckTensors(in, 1, 2); err != nil {
		return nil, err
	}
	x := in[0]
	spatial, err := bytesSpatial(x)
	if err != nil {
		return nil, err
	}
	if spatial, err = padded(spatial, o.Pads); err != nil {
		return nil, err
	}
	shape := slices.Concat(x.Shape[:2], spatial, x.Shape[x.Rank()-1:])
	return []ir.Type{ir.TensorOf(ir.U8, shape...)}, checkFill(op.Operand(in, 1))
}

// Eval copies the elements of x into padded blocks.
func (o BlockBytes) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	return evalFilled(o, in, o.Pads, o.Lanes, func(set func(channel int, at []int, v int64)) {
		channels, plane := x.Shape[1], op.LenOf(x.Shape[2:])
		for i := range x.Len() {
			at := placeOf(i%max(plane, 1), x.Shape[2:])
			set(i/plane/channels*((channels+o.Lanes-1)/o.Lanes*o.Lanes)+i/plane%channels, at, moved(x.Int(i), x.DType, ir.U8))
		}
	})
}

// Eval copies x and adds the padding.
func (o PadBytes) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	return evalFilled(o, in, o.Pads, block, func(set func(channel int, at []int, v int64)) {
		spatial := x.Shape[2 : len(x.Shape)-1]
		plane := op.LenOf(spatial)
		for i := range x.Len() {
			set(i/block/plane*block+i%block, placeOf(i/block%plane, spatial), x.Int(i))
		}
	})
}

func placeOf(i int, shape []int) []int {
	at := make([]int, len(shape))
	for axis := len(shape) - 1; axis >= 0; axis-- {
		at[axis] = i % shape[axis]
		i /= shape[axis]
	}
	return at
}

// evalFilled evaluates [BlockBytes] or [PadBytes]. It calls f once. f gets a function `set`, and calls it for each
// element v of the operand. The argument `at` of set holds the spatial indices of the element in the operand. The
// argument channel is image·c + k for an element in channel k of an image, where c is the number of channels rounded
// up to a multiple of `lanes`. pads holds the number of cells of padding before each axis, and then the number after
// each axis. Padding has the padding value in all lanes.
func evalFilled(o ir.Op, in []*ir.Tensor, pads []dim.Dim, lanes int, f func(set func(channel int, at []int, v int64))) ([]*ir.Tensor, error) {
	out, err := op.InferOf(o, in)
	if err != nil {
		return nil, err
	}
	before, ok := dim.Ints(pads)
	if !ok {
		return nil, fmt.Errorf("pads %v have no value", pads)
	}
	shape, _ := out[0].Static()
	y := ir.NewTensor(ir.U8, shape...)
	spatial := shape[2 : len(shape)-1]
	plane := op.LenOf(spatial)
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
	for i := range op.LenOf(extents) {
		inner[place(placeOf(i, extents))] = true
	}
	fill := int64(uint8(op.ZeroAt(op.OperandOf(in, 1), 0)))
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

// Eval copies the elements of the channels and drops the lanes beyond C.
func (o UnblockBytes) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	out, err := op.InferOf(o, in)
	if err != nil {
		return nil, err
	}
	shape, _ := out[0].Static()
	y := ir.NewTensor(o.To, shape...)
	plane, blocks := op.LenOf(shape[2:]), x.Shape[1]
	for i := range y.Len() {
		image, c := i/plane/o.C, i/plane%o.C
		from := ((image*blocks+c/block)*plane+i%plane)*block + c%block
		y.SetInt(i, moved(x.Int(from), ir.U8, o.To))
	}
	return []*ir.Tensor{y}, nil
}

// EmptyLanes returns a list of one number, zero: the lanes beyond the last channel hold zero. The cells of padding,
// which may hold another number in these lanes, are left out.
func (BlockBytes) EmptyLanes(*ir.Node) []float64 { return []float64{0} }
