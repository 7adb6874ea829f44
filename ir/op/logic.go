package op

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
)

// And computes x && y with broadcasting, for bools.
type And struct{ binary[booleans] }

// Or computes x || y with broadcasting, for bools.
type Or struct{ binary[booleans] }

// Xor computes x != y with broadcasting, for bools.
type Xor struct{ binary[booleans] }

// Not computes !x for bools.
type Not struct{ unary[booleans] }

// Eval returns x && y in the common shape of both.
func (And) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalBinary(in, formula{logical: func(a, b bool) bool { return a && b }})
}

// Scalar returns x && y for one element of each operand.
func (And) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return b.And(x[0], x[1])
}

// Eval returns x || y in the common shape of both.
func (Or) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalBinary(in, formula{logical: func(a, b bool) bool { return a || b }})
}

// Scalar returns x || y for one element of each operand.
func (Or) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return b.Or(x[0], x[1])
}

// Eval returns x != y in the common shape of both.
func (Xor) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalBinary(in, formula{logical: func(a, b bool) bool { return a != b }})
}

// Scalar returns x != y for one element of each operand.
func (Xor) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return b.Binary(kernel.Xor, x[0], x[1])
}

// Eval returns !x for each element x.
func (Not) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalMapping(in, mapping{logical: func(a bool) bool { return !a }})
}

// Scalar returns !x for an element x.
func (Not) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value { return b.Not(x[0]) }

// InferElems returns x && y for known elements, 0 or 1.
func (And) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsBinary(in, out, dim.Dim.Min)
}

// InferElems returns x || y for known elements, 0 or 1.
func (Or) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsBinary(in, out, dim.Dim.Max)
}

// InferElems returns x != y for known elements, 0 or 1.
func (Xor) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsBinary(in, out, func(a, b dim.Dim) dim.Dim { return a.Add(b).Mod(dim.Const(2)) })
}

// InferElems returns !x for known elements, 0 or 1.
func (Not) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsUnary(in, out, func(r ir.Ratio) (ir.Ratio, bool) {
		return integer(dim.Const(1).Sub(r.Num)), true
	})
}

// IsCommutative marks the operator as commutative.
func (And) IsCommutative() {}

// IsCommutative marks the operator as commutative.
func (Or) IsCommutative() {}

// IsCommutative marks the operator as commutative.
func (Xor) IsCommutative() {}

// Neutral returns 1, which stands for true: x && true is x.
func (And) Neutral() float64 { return 1 }

// Neutral returns 0, which stands for false: x || false is x.
func (Or) Neutral() float64 { return 0 }

// Neutral returns 0, which stands for false: x != false is x.
func (Xor) Neutral() float64 { return 0 }

// IsInvolution marks the operator as its own inverse.
func (Not) IsInvolution() {}

// IsIdempotent marks the operator as idempotent.
func (And) IsIdempotent() {}

// IsIdempotent marks the operator as idempotent.
func (Or) IsIdempotent() {}

// IsCheap marks the operator as cheaper to compute than to store.
func (And) IsCheap() {}

// IsCheap marks the operator as cheaper to compute than to store.
func (Not) IsCheap() {}

// IsCheap marks the operator as cheaper to compute than to store.
func (Or) IsCheap() {}
