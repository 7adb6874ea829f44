package op

import (
	"math"

	"github.com/burngen/burngen/ir"
)

// Floor is x rounded down, of floats.
type Floor struct{ unary[floats] }

// Ceil is x rounded up, of floats.
type Ceil struct{ unary[floats] }

// Round is x rounded to the nearest integer, halves to the even one, of floats.
type Round struct{ unary[floats] }

// Eval rounds.
func (Floor) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, math.Floor) }

// Eval rounds.
func (Ceil) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, math.Ceil) }

// Eval rounds.
func (Round) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalUnary(in, math.RoundToEven) }

// InferElems rounds expressions.
func (Floor) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsUnary(in, out, func(r ir.Ratio) (ir.Ratio, bool) {
		return integer(r.Num.FloorDiv(ir.Const(r.Den))), true
	})
}

// InferElems rounds expressions.
func (Ceil) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsUnary(in, out, func(r ir.Ratio) (ir.Ratio, bool) {
		return integer(r.Num.CeilDiv(ir.Const(r.Den))), true
	})
}

// InferElems keeps integers and rounds constants.
func (Round) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsUnary(in, out, func(r ir.Ratio) (ir.Ratio, bool) {
		n, ok := r.Num.Int64()
		switch {
		case r.Den == 1:
			return r, true
		case ok:
			return integer(ir.Const64(int64(math.RoundToEven(float64(n) / float64(r.Den))))), true
		}
		return r, false
	})
}

// Call is cpu.Floor.
func (Floor) Call(*ir.Node) (ir.Call, error) { return callUnary("Floor"), nil }

// Grad is zero.
func (Floor) Grad(*ir.Builder, *ir.Node, []*ir.Value, []bool) []*ir.Value { return nil }

// Call is cpu.Ceil.
func (Ceil) Call(*ir.Node) (ir.Call, error) { return callUnary("Ceil"), nil }

// Grad is zero.
func (Ceil) Grad(*ir.Builder, *ir.Node, []*ir.Value, []bool) []*ir.Value { return nil }

// Call is cpu.Round.
func (Round) Call(*ir.Node) (ir.Call, error) { return callUnary("Round"), nil }

// Grad is zero.
func (Round) Grad(*ir.Builder, *ir.Node, []*ir.Value, []bool) []*ir.Value { return nil }

// IsIdempotent marks the operator.
func (Ceil) IsIdempotent() {}

// IsIdempotent marks the operator.
func (Floor) IsIdempotent() {}

// IsIdempotent marks the operator.
func (Round) IsIdempotent() {}
