package op

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/ir/kernel/elementary"
)

// Quantize converts an f32 x to the integer type To: round(x/Scale) + Zero, saturated to To. It rounds to nearest,
// ties to even. It is [QuantizeLinear] with one constant f32 scale.
type Quantize struct {
	elementwise
	Scale float64
	Zero  int
	To    ir.DType
}

// Dequantize converts integers x of at most 32 bits, but not u32, to (x − Zero)·Scale in f32. It is
// [DequantizeLinear] with one constant f32 scale.
type Dequantize struct {
	elementwise
	Scale float64
	Zero  int
}

// Infer returns the operand's shape with the element type To. It returns an error unless the operand is f32. It also
// returns an error if To is u32, or is not an integer type of at most 32 bits that represents Zero.
func (op Quantize) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	if in[0].DType != ir.F32 || !op.To.IsInt() || !quantizedType(op.To) {
		return nil, fmt.Errorf("%s to %s", in[0], op.To)
	}
	return []ir.Type{in[0].With(op.To)}, checkZero(op.Zero, op.To)
}

// Infer returns f32 in the operand's shape.
func (op Dequantize) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	if d := in[0].DType; !d.IsInt() || !quantizedType(d) {
		return nil, fmt.Errorf("not defined for %s", d)
	}
	return []ir.Type{in[0].With(ir.F32)}, checkZero(op.Zero, in[0].DType)
}

func checkZero(zero int, d ir.DType) error {
	if lo, hi := QuantRange(d); int64(zero) < lo || int64(zero) > hi {
		return fmt.Errorf("zero point %d does not fit %s", zero, d)
	}
	return nil
}

// Eval returns the quantised elements in the operand's shape. It computes the quotients in f32.
func (op Quantize) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	y := ir.NewTensor(op.To, in[0].Shape...)
	for i := range y.Len() {
		v := float32(in[0].Float(i)) / float32(op.Scale)
		y.SetInt(i, saturated(op.To, math.RoundToEven(float64(v))+float64(op.Zero)))
	}
	return []*ir.Tensor{y}, nil
}

// Scalar returns an element quantised to d. It divides in f32.
func (op Quantize) Scalar(b *kernel.Builder, d ir.DType, x []*kernel.Value) *kernel.Value {
	zero := b.Whole(ir.I32, int64(op.Zero))
	return Quantized(b, d, elementary.DivBy(b, x[0], float64(float32(op.Scale))), zero)
}

// Quantized returns round(quotient) + zero, saturated to d, an integer type of at most 32 bits. quotient is f32 and
// is rounded to nearest, ties to even. If it is NaN, the result is the smallest integer.
func Quantized(b *kernel.Builder, d ir.DType, quotient, zero *kernel.Value) *kernel.Value {
	v := b.Unary(kernel.Round, quotient)
	word, limit := ir.I32, 0x1p24 // beyond the limit all zero points saturate
	if d.Bits() == 32 {
		word, limit = ir.I64, 0x1p40
	}
	low := number(b, v, -limit)
	v = b.Select(b.Gt(v, low), b.Min(number(b, v, limit), v), low) // NaN becomes low
	n := b.Add(b.Convert(word, v), b.Convert(word, zero))
	lo, hi := QuantRange(d)
	return b.Convert(kernel.Arithmetic(d), clamped(b, n, b.Whole(word, lo), b.Whole(word, hi)))
}

// Eval returns (x − Zero)·Scale in the operand's shape, multiplied in f32.
func (op Dequantize) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	y := ir.NewTensor(ir.F32, in[0].Shape...)
	for i := range y.Len() {
		y.SetFloat(i, float64(float32(in[0].Int(i)-int64(op.Zero))*float32(op.Scale)))
	}
	return []*ir.Tensor{y}, nil
}

// Scalar returns (x − Zero)·Scale for an element x, multiplied in f32.
func (op Dequantize) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return Dequantized(b, x[0], b.Whole(ir.I32, int64(op.Zero)), b.Float(ir.F32, op.Scale))
}

// Dequantized returns (x − zero)·scale in f32, for an integer x of at most 32 bits.
func Dequantized(b *kernel.Builder, x, zero, scale *kernel.Value) *kernel.Value {
	word := ir.I32
	if bits, ok := zero.Const(); x.Type.DType == ir.I32 && !(ok && bits == 0) {
		word = ir.I64 // the operand may be any i32
	}
	n := b.Sub(b.Convert(word, x), b.Convert(word, zero))
	return b.Mul(b.Convert(ir.F32, n), scale)
}

// Overwrites allows the result to reuse the memory of the operand.
func (Quantize) Overwrites() []int { return []int{0} }

// Overwrites allows the result to reuse the memory of the operand.
func (Dequantize) Overwrites() []int { return []int{0} }
