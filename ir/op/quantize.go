package op

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/ir"
)

// Quantize is x, of f32, divided by Scale, rounded to the nearest integer, halves
// to the even one, plus Zero, limited to the integer type To: [QuantizeLinear] by
// one constant scale, an f32.
type Quantize struct {
	elementwise
	Scale float64
	Zero  int
	To    ir.DType
}

// Dequantize is (x − Zero)·Scale, f32, of integers of at most 32 bits:
// [DequantizeLinear] by one constant scale, an f32.
type Dequantize struct {
	elementwise
	Scale float64
	Zero  int
}

// Infer gives the operand the element type To.
func (op Quantize) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 1, 1); err != nil {
		return nil, err
	}
	if in[0].DType != ir.F32 || !op.To.IsInt() || !quantizedType(op.To) {
		return nil, fmt.Errorf("%s to %s", in[0], op.To)
	}
	return []ir.Type{in[0].With(op.To)}, checkZero(op.Zero, op.To)
}

// Infer gives f32.
func (op Dequantize) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 1, 1); err != nil {
		return nil, err
	}
	if d := in[0].DType; !d.IsInt() || !quantizedType(d) {
		return nil, fmt.Errorf("not defined for %s", d)
	}
	return []ir.Type{in[0].With(ir.F32)}, checkZero(op.Zero, in[0].DType)
}

// checkZero checks that a zero point has a type.
func checkZero(zero int, d ir.DType) error {
	if lo, hi := quantRange(d); int64(zero) < lo || int64(zero) > hi {
		return fmt.Errorf("zero point %d is no %s", zero, d)
	}
	return nil
}

// Eval divides in f32.
func (op Quantize) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	y := ir.NewTensor(op.To, in[0].Shape...)
	for i := range y.Len() {
		v := float32(in[0].Float(i)) / float32(op.Scale)
		y.SetInt(i, saturated(op.To, math.RoundToEven(float64(v))+float64(op.Zero)))
	}
	return []*ir.Tensor{y}, nil
}

// Eval multiplies in f32.
func (op Dequantize) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	y := ir.NewTensor(ir.F32, in[0].Shape...)
	for i := range y.Len() {
		y.SetFloat(i, float64(float32(in[0].Int(i)-int64(op.Zero))*float32(op.Scale)))
	}
	return []*ir.Tensor{y}, nil
}

// Overwrites lists the operand.
func (Quantize) Overwrites() []int { return []int{0} }

// Overwrites lists the operand.
func (Dequantize) Overwrites() []int { return []int{0} }

// Call is cpu.QuantizeScalar.
func (op Quantize) Call(*ir.Node) (ir.Call, error) {
	lo, hi := quantRange(op.To)
	return callUnary("QuantizeScalar", ir.Number{DType: ir.F32, Float: op.Scale}, op.Zero, int(lo), int(hi)), nil
}

// Call is cpu.DequantizeScalar.
func (op Dequantize) Call(*ir.Node) (ir.Call, error) {
	return callUnary("DequantizeScalar", ir.Number{DType: ir.F32, Float: op.Scale}, op.Zero), nil
}
