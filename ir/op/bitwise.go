package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// BitwiseAnd is x & y, broadcast, of integers of one type.
type BitwiseAnd struct{ binary[integers] }

// BitwiseOr is x | y, broadcast, of integers of one type.
type BitwiseOr struct{ binary[integers] }

// BitwiseXor is x ^ y, broadcast, of integers of one type.
type BitwiseXor struct{ binary[integers] }

// BitwiseNot is ^x, of integers.
type BitwiseNot struct{ unary[integers] }

// BitShift shifts x by y bits to higher places with Left, else to lower ones,
// broadcast, of unsigned integers of one type. A shift by the width or more
// gives 0.
type BitShift struct {
	binary[unsigneds]
	Left bool
}

// bits makes a formula of a function of bits.
func bits(f func(a, b uint64) uint64) formula {
	return formula{
		signed:   func(a, b int64) (int64, error) { return int64(f(uint64(a), uint64(b))), nil },
		unsigned: sure(f),
	}
}

// Eval combines bits.
func (BitwiseAnd) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalBinary(in, bits(func(a, b uint64) uint64 { return a & b }))
}

// Eval combines bits.
func (BitwiseOr) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalBinary(in, bits(func(a, b uint64) uint64 { return a | b }))
}

// Eval combines bits.
func (BitwiseXor) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalBinary(in, bits(func(a, b uint64) uint64 { return a ^ b }))
}

// Eval inverts bits.
func (BitwiseNot) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalMapping(in, mapping{
		signed:   func(a int64) int64 { return ^a },
		unsigned: func(a uint64) uint64 { return ^a },
	})
}

// Eval shifts bits.
func (op BitShift) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalBinary(in, bits(func(a, b uint64) uint64 {
		if op.Left {
			return a << b
		}
		return a >> b
	}))
}

// Call is cpu.BitAnd or cpu.BitAndScalar.
func (BitwiseAnd) Call(n *ir.Node) (ir.Call, error) { return callBinary(n, "BitAnd", true), nil }

// Call is cpu.BitOr or cpu.BitOrScalar.
func (BitwiseOr) Call(n *ir.Node) (ir.Call, error) { return callBinary(n, "BitOr", true), nil }

// Call is cpu.BitXor or cpu.BitXorScalar.
func (BitwiseXor) Call(n *ir.Node) (ir.Call, error) { return callBinary(n, "BitXor", true), nil }

// Call is cpu.BitNot.
func (BitwiseNot) Call(*ir.Node) (ir.Call, error) { return callUnary("BitNot"), nil }

// Call is cpu.ShiftLeft or cpu.ShiftRight, or a form with a scalar.
func (op BitShift) Call(n *ir.Node) (ir.Call, error) {
	if op.Left {
		return callBinary(n, "ShiftLeft", false), nil
	}
	return callBinary(n, "ShiftRight", false), nil
}

// importBitShift reads BitShift.
func importBitShift(c ir.Importer) ([]*ir.Value, error) {
	direction := c.Text("direction", "")
	if direction != "LEFT" && direction != "RIGHT" {
		return nil, fmt.Errorf("direction %q is neither LEFT nor RIGHT", direction)
	}
	op := BitShift{Left: direction == "LEFT"}
	return []*ir.Value{c.Builder().Node(op, c.Arg(0), c.Arg(1))}, nil
}

// IsCommutative marks the operator.
func (BitwiseAnd) IsCommutative() {}

// IsCommutative marks the operator.
func (BitwiseOr) IsCommutative() {}

// IsCommutative marks the operator.
func (BitwiseXor) IsCommutative() {}

// Neutral is 0 bits.
func (BitShift) Neutral() float64 { return 0 }

// Neutral is 0.
func (BitwiseOr) Neutral() float64 { return 0 }

// Neutral is 0.
func (BitwiseXor) Neutral() float64 { return 0 }

// IsInvolution marks the operator.
func (BitwiseNot) IsInvolution() {}

// IsIdempotent marks the operator.
func (BitwiseAnd) IsIdempotent() {}

// IsIdempotent marks the operator.
func (BitwiseOr) IsIdempotent() {}
