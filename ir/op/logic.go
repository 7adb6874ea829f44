package op

import "github.com/burngen/burngen/ir"

// And tells whether x and y are both true, broadcast, of booleans.
type And struct{ binary[booleans] }

// Or tells whether x or y is true, broadcast, of booleans.
type Or struct{ binary[booleans] }

// Xor tells whether one of x and y is true, broadcast, of booleans.
type Xor struct{ binary[booleans] }

// Not tells whether x is false, a boolean.
type Not struct{ unary[booleans] }

// Eval combines truth values.
func (And) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalBinary(in, formula{logical: func(a, b bool) bool { return a && b }})
}

// Eval combines truth values.
func (Or) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalBinary(in, formula{logical: func(a, b bool) bool { return a || b }})
}

// Eval combines truth values.
func (Xor) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalBinary(in, formula{logical: func(a, b bool) bool { return a != b }})
}

// Eval negates.
func (Not) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalMapping(in, mapping{logical: func(a bool) bool { return !a }})
}

// InferElems combines known truth values, 0 and 1.
func (And) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsBinary(in, out, ir.Dim.Min)
}

// InferElems combines known truth values, 0 and 1.
func (Or) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsBinary(in, out, ir.Dim.Max)
}

// InferElems combines known truth values, 0 and 1.
func (Xor) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsBinary(in, out, func(a, b ir.Dim) ir.Dim { return a.Add(b).Mod(ir.Const(2)) })
}

// InferElems negates known truth values, 0 and 1.
func (Not) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsUnary(in, out, func(r ir.Ratio) (ir.Ratio, bool) {
		return integer(ir.Const(1).Sub(r.Num)), true
	})
}

// Call is cpu.And or cpu.AndScalar.
func (And) Call(n *ir.Node) (ir.Call, error) { return callBinary(n, "And", true), nil }

// Call is cpu.Or or cpu.OrScalar.
func (Or) Call(n *ir.Node) (ir.Call, error) { return callBinary(n, "Or", true), nil }

// Call is cpu.Xor or cpu.XorScalar.
func (Xor) Call(n *ir.Node) (ir.Call, error) { return callBinary(n, "Xor", true), nil }

// Call is cpu.Not.
func (Not) Call(*ir.Node) (ir.Call, error) { return callUnary("Not"), nil }

// IsCommutative marks the operator.
func (And) IsCommutative() {}

// IsCommutative marks the operator.
func (Or) IsCommutative() {}

// IsCommutative marks the operator.
func (Xor) IsCommutative() {}

// Neutral is true.
func (And) Neutral() float64 { return 1 }

// Neutral is false.
func (Or) Neutral() float64 { return 0 }

// Neutral is false.
func (Xor) Neutral() float64 { return 0 }

// IsInvolution marks the operator.
func (Not) IsInvolution() {}

// IsIdempotent marks the operator.
func (And) IsIdempotent() {}

// IsIdempotent marks the operator.
func (Or) IsIdempotent() {}

// IsCheap marks the operator.
func (And) IsCheap() {}

// IsCheap marks the operator.
func (Not) IsCheap() {}

// IsCheap marks the operator.
func (Or) IsCheap() {}
