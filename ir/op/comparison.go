package op

import (
	"cmp"
	"strings"

	"github.com/burngen/burngen/ir"
)

// comparison is embedded by elementwise operators of two operands of one
// element type and a boolean result.
type comparison[D domain] struct{ elementwise }

// Infer broadcasts the operands.
func (comparison[D]) Infer(in []ir.Type) ([]ir.Type, error) { return inferBinary[D](in, ir.Bool) }

// Lower compares in a wider type what kernels only store.
func (comparison[D]) Lower(b *ir.Builder, n *ir.Node) []*ir.Value { return lowerNarrow(b, n) }

// Equal tells whether x equals y, broadcast, of one type of any kind. NaN equals
// nothing, and −0 equals 0.
type Equal struct{ comparison[anything] }

// Lower repeats strings, and compares in a wider type what kernels only store.
func (Equal) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	if out := lowerTexts(b, n); out != nil {
		return out
	}
	return lowerNarrow(b, n)
}

// Less tells whether x is less than y, broadcast, of numbers of one type.
type Less struct{ comparison[numbers] }

// LessOrEqual tells whether x is at most y, broadcast, of numbers of one type.
type LessOrEqual struct{ comparison[numbers] }

// Greater tells whether x is greater than y, broadcast, of numbers of one type.
type Greater struct{ comparison[numbers] }

// GreaterOrEqual tells whether x is at least y, broadcast, of numbers of one type.
type GreaterOrEqual struct{ comparison[numbers] }

// The orders, of x to y as [cmp.Compare] gives it, for which the operators hold.
func isEqual(order int) bool          { return order == 0 }
func isLess(order int) bool           { return order < 0 }
func isLessOrEqual(order int) bool    { return order <= 0 }
func isGreater(order int) bool        { return order > 0 }
func isGreaterOrEqual(order int) bool { return order >= 0 }

// Eval compares.
func (Equal) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalComparison(in, isEqual) }

// Eval compares.
func (Less) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalComparison(in, isLess) }

// Eval compares.
func (LessOrEqual) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalComparison(in, isLessOrEqual)
}

// Eval compares.
func (Greater) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalComparison(in, isGreater) }

// Eval compares.
func (GreaterOrEqual) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalComparison(in, isGreaterOrEqual)
}

// InferElems compares expressions where their bounds decide.
func (Equal) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsComparison(in, out, isEqual)
}

// InferElems compares expressions where their bounds decide.
func (Less) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsComparison(in, out, isLess)
}

// InferElems compares expressions where their bounds decide.
func (LessOrEqual) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsComparison(in, out, isLessOrEqual)
}

// InferElems compares expressions where their bounds decide.
func (Greater) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsComparison(in, out, isGreater)
}

// InferElems compares expressions where their bounds decide.
func (GreaterOrEqual) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsComparison(in, out, isGreaterOrEqual)
}

// Call is cpu.Equal or cpu.EqualScalar.
func (Equal) Call(n *ir.Node) (ir.Call, error) { return callComparison(n, "Equal", "Equal"), nil }

// Call is cpu.Less, or a form with a scalar on the right.
func (Less) Call(n *ir.Node) (ir.Call, error) { return callComparison(n, "Less", "Greater"), nil }

// Call is cpu.LessOrEqual, or a form with a scalar on the right.
func (LessOrEqual) Call(n *ir.Node) (ir.Call, error) {
	return callComparison(n, "LessOrEqual", "GreaterOrEqual"), nil
}

// Call is cpu.Greater, or a form with a scalar on the right.
func (Greater) Call(n *ir.Node) (ir.Call, error) { return callComparison(n, "Greater", "Less"), nil }

// Call is cpu.GreaterOrEqual, or a form with a scalar on the right.
func (GreaterOrEqual) Call(n *ir.Node) (ir.Call, error) {
	return callComparison(n, "GreaterOrEqual", "LessOrEqual"), nil
}

// evalComparison tells for which pairs of elements the order holds.
func evalComparison(in []*ir.Tensor, holds func(order int) bool) ([]*ir.Tensor, error) {
	shape, walks, err := evalBroadcast(in)
	if err != nil {
		return nil, err
	}
	y := ir.NewTensor(ir.Bool, shape...)
	for i := range y.Len() {
		order, ordered := compareElems(in[0], walks[0].Offset, in[1], walks[1].Offset)
		y.SetBool(i, ordered && holds(order))
		walks[0].Next()
		walks[1].Next()
	}
	return []*ir.Tensor{y}, nil
}

// compareElems returns the order of element i of a to element j of b, which has
// a's element type; a NaN has none.
func compareElems(a *ir.Tensor, i int, b *ir.Tensor, j int) (order int, ordered bool) {
	switch a.DType.Class() {
	case ir.Float:
		x, y := a.Float(i), b.Float(j)
		return cmp.Compare(x, y), x == x && y == y
	case ir.Unsigned:
		return cmp.Compare(uint64(a.Int(i)), uint64(b.Int(j))), true
	case ir.Text:
		return strings.Compare(a.Text(i), b.Text(j)), true
	}
	return cmp.Compare(a.Int(i), b.Int(j)), true
}

// elemsComparison compares expressions: every order that the bounds of their
// difference leave possible has to give the same answer.
func elemsComparison(in []*ir.Value, out ir.Type, holds func(order int) bool) []ir.Ratio {
	return elemsBroadcast(in, out, func(e []ir.Ratio) (ir.Ratio, bool) {
		a, b, _ := common(e[0], e[1])
		if a.Same(b) {
			return truth(holds(0)), true
		}
		lo, hi := a.Sub(b).Bounds()
		first, last := cmp.Compare(lo, 0), cmp.Compare(hi, 0)
		for order := first; order <= last; order++ {
			if holds(order) != holds(first) {
				return ir.Ratio{}, false
			}
		}
		return truth(holds(first)), true
	})
}

// callComparison is the call of a comparison; of its mirror image where the
// first operand is a constant.
func callComparison(n *ir.Node, kernel, mirror string) ir.Call {
	if s, ok := scalar(n.Arg(1)); ok {
		return ir.Call{Kernel: kernel + "Scalar", Args: []any{ir.Out(0), ir.In(0), s}}
	}
	if s, ok := scalar(n.Arg(0)); ok {
		return ir.Call{Kernel: mirror + "Scalar", Args: []any{ir.Out(0), ir.In(1), s}}
	}
	return ir.Call{Kernel: kernel, Args: []any{ir.Out(0), ir.In(0), ir.In(1)}}
}

// IsCommutative marks the operator.
func (Equal) IsCommutative() {}

// IsCheap marks the operator.
func (Equal) IsCheap() {}

// IsCheap marks the operator.
func (Greater) IsCheap() {}

// IsCheap marks the operator.
func (GreaterOrEqual) IsCheap() {}

// IsCheap marks the operator.
func (Less) IsCheap() {}

// IsCheap marks the operator.
func (LessOrEqual) IsCheap() {}
