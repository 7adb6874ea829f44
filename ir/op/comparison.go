package op

import (
	"cmp"
	"strings"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// comparison is embedded by elementwise operators that have two operands of one element type and a result of bools.
type comparison[D domain] struct{ elementwise }

func (comparison[D]) Infer(in []ir.Type) ([]ir.Type, error) { return inferBinary[D](in, ir.Bool) }

func (comparison[D]) Lower(b *ir.Builder, n *ir.Node) []*ir.Value { return lowerNarrow(b, n) }

// Equal computes x == y with broadcasting, for operands of one type of any kind. NaN is not equal
// to any value, and −0 equals 0.
type Equal struct{ comparison[anything] }

// Lower expands operands of strings to the shape of the result. It computes operands of narrow types, such as f16
// and i4, in a wider type.
func (Equal) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	if out := lowerTexts(b, n); out != nil {
		return out
	}
	return lowerNarrow(b, n)
}

// Less computes x < y with broadcasting, for numbers of one type.
type Less struct{ comparison[numbers] }

// LessOrEqual computes x <= y with broadcasting, for numbers of one type.
type LessOrEqual struct{ comparison[numbers] }

// Greater computes x > y with broadcasting, for numbers of one type.
type Greater struct{ comparison[numbers] }

// GreaterOrEqual computes x >= y with broadcasting, for numbers of one type.
type GreaterOrEqual struct{ comparison[numbers] }

// isEqual and the functions below report whether x and y compare in a certain way. order is the result of
// [cmp.Compare] for x and y.
func isEqual(order int) bool          { return order == 0 }
func isLess(order int) bool           { return order < 0 }
func isLessOrEqual(order int) bool    { return order <= 0 }
func isGreater(order int) bool        { return order > 0 }
func isGreaterOrEqual(order int) bool { return order >= 0 }

// Eval returns x == y in the common shape of both.
func (Equal) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalComparison(in, isEqual) }

// Scalar returns x == y for one element of each operand.
func (Equal) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return b.Eq(x[0], x[1])
}

// Eval returns x < y in the common shape of both.
func (Less) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalComparison(in, isLess) }

// Scalar returns x < y for one element of each operand.
func (Less) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return b.Lt(x[0], x[1])
}

// Eval returns x <= y in the common shape of both.
func (LessOrEqual) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalComparison(in, isLessOrEqual)
}

// Scalar returns x <= y for one element of each operand.
func (LessOrEqual) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return b.Le(x[0], x[1])
}

// Eval returns x > y in the common shape of both.
func (Greater) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return evalComparison(in, isGreater) }

// Scalar returns x > y for one element of each operand.
func (Greater) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return b.Gt(x[0], x[1])
}

// Eval returns x >= y in the common shape of both.
func (GreaterOrEqual) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return evalComparison(in, isGreaterOrEqual)
}

// Scalar returns x >= y for one element of each operand.
func (GreaterOrEqual) Scalar(b *kernel.Builder, _ ir.DType, x []*kernel.Value) *kernel.Value {
	return b.Ge(x[0], x[1])
}

// InferElems returns x == y for each pair of known elements. It returns nil if, for some pair, the bounds of x − y do
// not decide the result.
func (Equal) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsComparison(in, out, isEqual)
}

// InferElems returns x < y for each pair of known elements. It returns nil if, for some pair, the bounds of x − y do
// not decide the result.
func (Less) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsComparison(in, out, isLess)
}

// InferElems returns x <= y for each pair of known elements. It returns nil if, for some pair, the bounds of x − y do
// not decide the result.
func (LessOrEqual) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsComparison(in, out, isLessOrEqual)
}

// InferElems returns x > y for each pair of known elements. It returns nil if, for some pair, the bounds of x − y do
// not decide the result.
func (Greater) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsComparison(in, out, isGreater)
}

// InferElems returns x >= y for each pair of known elements. It returns nil if, for some pair, the bounds of x − y do
// not decide the result.
func (GreaterOrEqual) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return elemsComparison(in, out, isGreaterOrEqual)
}

// evalComparison compares each pair of elements of the broadcast operands. It returns holds(order), where order is
// the result of [cmp.Compare] for the pair. The result is false for a pair with a NaN.
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

// compareElems compares element i of a with element j of b. Both tensors have one type. order is as in
// [cmp.Compare]. ordered is false if an element is NaN.
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

// elemsComparison returns the result of the function `holds` for each pair (x, y) of elements that are known as
// expressions. The argument `order` of `holds` is the result of [cmp.Compare] for x and y. elemsComparison returns
// nil if, for some pair, the bounds of x − y allow both results of `holds`.
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

// IsCommutative marks the operator as commutative.
func (Equal) IsCommutative() {}

// IsCheap marks the operator as cheaper to compute than to store.
func (Equal) IsCheap() {}

// IsCheap marks the operator as cheaper to compute than to store.
func (Greater) IsCheap() {}

// IsCheap marks the operator as cheaper to compute than to store.
func (GreaterOrEqual) IsCheap() {}

// IsCheap marks the operator as cheaper to compute than to store.
func (Less) IsCheap() {}

// IsCheap marks the operator as cheaper to compute than to store.
func (LessOrEqual) IsCheap() {}
