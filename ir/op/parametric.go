package op

import "github.com/burngen/burngen/ir"

// parametric are the operators whose operands are parameters where they are weights: a
// product's factors, scales and biases, tables.
var parametric = ir.NewOpSet(
	Conv{}, ConvTranspose{}, DeformConv{}, Gemm{}, MatMul{},
	BatchNormalization{}, LayerNormalization{}, RMSNormalization{},
	Gather{}, LSTM{}, GRU{}, RNN{}, PRelu{}, Custom{},
)

// IsParametric reports whether an operator's operands, but for running statistics, are
// parameters of the model where they are weights.
func IsParametric(o ir.Op) bool {
	return parametric.Has(o)
}

// IsParameter reports whether operand i of a node is a parameter of the model if it is a
// weight: an operand of what [IsParametric] names that is no running statistic, or the one
// element that is added to a product with a weight.
func IsParameter(n *ir.Node, i int) bool {
	if IsParametric(n.Op) {
		return !IsStatistic(n.Op, i)
	}
	if _, ok := n.Op.(Add); !ok {
		return false
	}
	if elems, ok := n.Args[i].Type.Elems().Int(); !ok || elems != 1 {
		return false
	}
	other := n.Arg(1 - i)
	if other == nil || other.Def == nil {
		return false
	}
	if _, ok := other.Def.Op.(MatMul); !ok {
		return false
	}
	return isMovedWeight(other.Def.Args[0]) || isMovedWeight(other.Def.Args[1])
}

// IsStatistic reports whether an operator's operand i is a running statistic.
func IsStatistic(o ir.Op, i int) bool {
	_, norm := o.(BatchNormalization)
	return norm && i >= 3
}

// isMovedWeight reports whether a value has the elements of a weight.
func isMovedWeight(v *ir.Value) bool {
	if v = Moved(v); v == nil || v.Def == nil {
		return false
	}
	_, ok := v.Def.Op.(ir.Load)
	return ok
}

// Moved returns the value whose elements v has, before everything that [IsMove] names.
func Moved(v *ir.Value) *ir.Value {
	for v != nil && v.Def != nil && IsMove(v.Def.Op) {
		v = v.Def.Arg(0)
	}
	return v
}

// IsMove reports whether an operator's result has elements of its first operand and no
// others, converted at most.
func IsMove(o ir.Op) bool {
	switch o.(type) {
	case Reshape, Transpose, Cast, Expand, Slice:
		return true
	}
	_, view := o.(ir.Viewer)
	return view
}
