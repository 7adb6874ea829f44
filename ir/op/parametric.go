package op

import "github.com/burngen/burngen/ir"

// IsParametric reports whether an operator is [Parametric].
func IsParametric(o ir.Op) bool {
	_, ok := o.(Parametric)
	return ok
}

// IsParameter reports whether a weight that is operand i of n is a parameter of the model. It is one if n is a
// [Parametric] operator and operand i is not a running statistic. It is also one if operand i has one element, and n
// adds it to the product of a [MatMul] with a weight.
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
	p, ok := o.(Parametric)
	return ok && p.IsStatistic(i)
}

// isMovedWeight reports whether v is a weight, or is computed from a weight by operators that [IsMove] accepts.
func isMovedWeight(v *ir.Value) bool {
	if v = Moved(v); v == nil || v.Def == nil {
		return false
	}
	_, ok := v.Def.Op.(ir.Load)
	return ok
}

// Moved goes back from v through all operators that [IsMove] accepts, and returns the value that it arrives at. It
// returns v if no such operator computes v.
func Moved(v *ir.Value) *ir.Value {
	for v != nil && v.Def != nil && IsMove(v.Def.Op) {
		v = v.Def.Arg(0)
	}
	return v
}

// IsMove reports whether an operator only moves or converts the elements of its first operand.
func IsMove(o ir.Op) bool {
	switch MovementOf(o) {
	case Rearranges, Repeats:
		return true
	}
	_, cast := o.(Cast)
	_, view := o.(ir.Viewer)
	return view || cast
}
