package storage

import (
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// TestIntegersOfBlocks asserts which operator convolves blocked bytes, with the zero points of all
// types of bytes.
func TestIntegersOfBlocks(t *testing.T) {
	conv := func(to ir.DType, group int) op.ConvInteger {
		return op.ConvInteger{Window: op.Window{Kernel: []int{3, 3}, Pads: []int{1, 1, 0, 1}}, Group: group, Requantize: op.Requantize{To: to}}
	}
	scale := ir.FloatTensor(ir.F64, 1.0/32)
	zero := func(d ir.DType, v float64) *ir.Tensor { return ir.Scalar(d, v) }
	for _, r := range []replaced{
		{conv(ir.U8, 1), []any{"u8[2,20,5,6]", "i8[18,20,3,3]", zero(ir.U8, 9), nil, nil, scale, zero(ir.U8, 100)}, blocks{}, "conv_bytes"},
		{conv(ir.I8, 1), []any{"i8[2,20,5,6]", "i8[18,20,3,3]", zero(ir.I8, -9), nil, nil, scale, zero(ir.I8, 5)}, blocks{}, "conv_bytes"},
		{conv(ir.U8, 1), []any{"u8[2,20,5,6]", "u8[18,20,3,3]", zero(ir.U8, 9), zero(ir.U8, 7), nil, scale, zero(ir.U8, 100)}, blocks{}, "conv_bytes"},
		{conv(ir.U8, 1), []any{"u8[2,3,5,6]", "i8[18,3,3,3]", zero(ir.U8, 9), nil, nil, scale, zero(ir.U8, 100)}, blocks{planar: true}, "conv_bytes"},
		{conv(ir.I8, 20), []any{"u8[2,20,5,6]", "i8[20,1,3,3]", zero(ir.U8, 9), nil, nil, scale, zero(ir.I8, 5)}, blocks{planar: true}, "depthwise_bytes"},
		{conv(ir.I8, 20), []any{"u8[2,20,5,6]", "i8[20,1,3,3]", zero(ir.U8, 9), zero(ir.I8, 3), nil, scale, zero(ir.I8, 5)}, blocks{}, ""},
		{conv(ir.Invalid, 1), []any{"u8[2,20,5,6]", "i8[18,20,3,3]"}, blocks{}, ""},
	} {
		r.check(t)
	}
}

// TestQuantisationOfBlocks asserts that blocks are converted by one scale, and mapped by a constant
// table.
func TestQuantisationOfBlocks(t *testing.T) {
	half, table := ir.Scalar(ir.F32, 0.5), ir.NewTensor(ir.I8, byteValues)
	for i := range byteValues {
		table.SetInt(i, int64(i*5%256-128))
	}
	quantize := op.QuantizeLinear{To: ir.I8, Precision: ir.F32}
	along := quantize
	along.Axis = 1
	for _, r := range []replaced{
		{quantize, []any{"f32[2,20,5,6]", half}, blocks{}, "quantize_linear"},
		{quantize, []any{"f32[2,20,5,6]", half, ir.Scalar(ir.I8, 3)}, blocks{}, "quantize_linear"},
		{along, []any{"f32[2,2,5,6]", ir.FloatTensor(ir.F32, 1, 2)}, blocks{}, ""},
		{op.DequantizeLinear{To: ir.F32}, []any{"i8[2,20,5,6]", half, ir.Scalar(ir.I8, 3)}, blocks{}, "dequantize_linear"},
		{op.DequantizeLinear{To: ir.F32}, []any{"u8[2,20,5,6]", half}, blocks{}, "dequantize_linear"},
		{op.ByteTable{}, []any{"u8[2,20,5,6]", table}, blocks{}, "byte_table"},
		{op.ByteTable{}, []any{"i8[2,20,5,6]", table}, blocks{}, "byte_table"},
		{op.ByteTable{}, []any{"i8[2,20,5,6]", "i8[256]"}, blocks{}, ""},
	} {
		r.check(t)
	}
}
