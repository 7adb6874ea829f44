package op

import (
	"math"

	"github.com/burngen/burngen/ir"
)

// Relu is x where it is not negative, else 0, of numbers. Zeros and NaN stay as
// they are.
type Relu struct{ unary[numbers] }

// Eval replaces what is negative.
func (Relu) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalMapping(in, mapping{
		float:    positive[float64],
		signed:   positive[int64],
		unsigned: func(x uint64) uint64 { return x },
	})
}

func positive[T float64 | int64](x T) T {
	if x < 0 {
		return 0
	}
	return x
}

// InferElems takes the greater of an expression and 0.
func (Relu) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsUnary(in, out, func(r ir.Ratio) (ir.Ratio, bool) {
		return fraction(r.Num.Max(ir.Const(0)), r.Den)
	})
}

// Call is cpu.Relu.
func (Relu) Call(*ir.Node) (ir.Call, error) { return callUnary("Relu"), nil }

// Grad is the result's where that is positive.
func (Relu) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	return []*ir.Value{b.Node(Gate{}, of[0], n.Results[0])}
}

// IsIdempotent marks the operator.
func (Relu) IsIdempotent() {}

// Limits are 0 and +Inf.
func (Relu) Limits() (lo, hi float64) { return 0, math.Inf(1) }

// IsCheap marks the operator.
func (Relu) IsCheap() {}
