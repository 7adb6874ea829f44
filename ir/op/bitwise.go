package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// BitwiseAnd computes x & y with broadcasting, for integers of one type (ONNX BitwiseAnd, from
// opset 18).
type BitwiseAnd struct{ binary[integers] }

// BitwiseOr computes x | y with broadcasting, for integers of one type (ONNX BitwiseOr, from opset
// 18).
type BitwiseOr struct{ binary[integers] }

// BitwiseXor computes x ^ y with broadcasting, for integers of one type (ONNX BitwiseXor, from
// opset 18).
type BitwiseXor struct{ binary[integers] }

// BitwiseNot computes ^x for integers (ONNX BitwiseNot, from opset 18).
type BitwiseNot struct{ unary[integers] }

// BitShift shifts x by y bits with broadcasting, for unsigned integers of one type. It shifts to
// the left if Left is set, else to the right. A shift by at least the width of the type gives 0.
type BitShift struct {
	binary[unsigneds]
	Left bool
}

func bits(f func(a, b uint64) uint64) formula {
	return formula{
		signed:   func(a, b int64) (int64, error) { return int64(f(uint64(a), uint64(b))), nil },
		unsigned: sure(f),
	}
}

// Eval returns x & y in the common shape of both.
func (BitwiseAnd) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalBinary(in, bits(func(a, b uint64) uint64 { return a & b }))
}

// Scalar returns x & y for one element of each operand.
func (BitwiseAnd) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return b.And(x[0], x[1])
}

// Eval returns x | y in the common shape of both.
func (BitwiseOr) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalBinary(in, bits(func(a, b uint64) uint64 { return a | b }))
}

// Scalar returns x | y for one element of each operand.
func (BitwiseOr) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return b.Or(x[0], x[1])
}

// Eval returns x ^ y in the common shape of both.
func (BitwiseXor) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalBinary(in, bits(func(a, b uint64) uint64 { return a ^ b }))
}

// Scalar returns x ^ y for one element of each operand.
func (BitwiseXor) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return b.Binary(kernel.Xor, x[0], x[1])
}

// Eval returns ^x for each element x.
func (BitwiseNot) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalMapping(in, mapping{
		signed:   func(a int64) int64 { return ^a },
		unsigned: func(a uint64) uint64 { return ^a },
	})
}

// Scalar returns ^x for an element x.
func (BitwiseNot) Scalar(b *kernel.Builder, d ir.DType, x []*kernel.Value) *kernel.Value {
	return wrapped(b, d, b.Not(x[0]))
}

// Eval returns x << y or x >> y in the common shape of x and y.
func (op BitShift) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalBinary(in, bits(func(a, b uint64) uint64 {
		if op.Left {
			return a << b
		}
		return a >> b
	}))
}

// Scalar returns x << y or x >> y for one element of each operand. It returns 0 if y is at least the width of the
// type.
func (op BitShift) Scalar(b *kernel.Builder, d ir.DType, x []*kernel.Value) *kernel.Value {
	t := x[0].Type.DType
	shift := kernel.Shr
	if op.Left {
		shift = kernel.Shl
	}
	width := b.Whole(t, int64(t.Bits()))
	y := b.Binary(shift, x[0], b.Min(x[1], b.Sub(width, b.Whole(t, 1))))
	return wrapped(b, d, b.Select(b.Lt(x[1], width), y, b.Whole(t, 0)))
}

func importBitShift(c ir.Importer) ([]*ir.Value, error) {
	direction := c.Text("direction", "")
	if direction != "LEFT" && direction != "RIGHT" {
		return nil, fmt.Errorf("direction %q is neither LEFT nor RIGHT", direction)
	}
	op := BitShift{Left: direction == "LEFT"}
	return []*ir.Value{c.Builder().Node(op, c.Arg(0), c.Arg(1))}, nil
}

// IsCommutative marks the operator as commutative.
func (BitwiseAnd) IsCommutative() {}

// IsCommutative marks the operator as commutative.
func (BitwiseOr) IsCommutative() {}

// IsCommutative marks the operator as commutative.
func (BitwiseXor) IsCommutative() {}

// Neutral returns 0: a shift by 0 bits changes nothing.
func (BitShift) Neutral() float64 { return 0 }

// Neutral returns 0: x | 0 is x.
func (BitwiseOr) Neutral() float64 { return 0 }

// Neutral returns 0: x ^ 0 is x.
func (BitwiseXor) Neutral() float64 { return 0 }

// IsInvolution marks the operator as its own inverse.
func (BitwiseNot) IsInvolution() {}

// IsIdempotent marks the operator as idempotent: x & x is x.
func (BitwiseAnd) IsIdempotent() {}

// IsIdempotent marks the operator as idempotent: x | x is x.
func (BitwiseOr) IsIdempotent() {}
