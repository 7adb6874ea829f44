package ir

import (
	"fmt"

	"github.com/burngen/burngen/ir/dim"
)

// Constant has no operands. Its result is Value, whose elements are part of the text form.
type Constant struct{ Value *Tensor }

// Infer returns the type of Value, or an error if Value is nil.
func (op Constant) Infer([]Type) ([]Type, error) {
	if op.Value == nil {
		return nil, fmt.Errorf("no value")
	}
	return []Type{op.Value.Type()}, nil
}

// Eval returns Value.
func (op Constant) Eval([]*Tensor) ([]*Tensor, error) { return []*Tensor{op.Value}, nil }

// maxElems is the largest number of elements of a tensor whose elements are tracked as expressions. The elements of
// larger tensors are not tracked.
const maxElems = 256

// InferElems returns the elements of Value as ratios. It returns nil if Value has strings or more than maxElems
// elements. It also returns nil if a float is not an exact fraction with a small denominator.
func (op Constant) InferElems([]*Value, Type) []Ratio {
	t := op.Value
	if t.Len() > maxElems || t.DType == String {
		return nil
	}
	elems := make([]Ratio, t.Len())
	for i := range elems {
		if !t.DType.IsFloat() {
			elems[i] = Ratio{dim.Const64(t.Int(i)), 1}
			continue
		}
		r, ok := ratio(t.Float(i))
		if !ok {
			return nil
		}
		elems[i] = r
	}
	return elems
}

// ratio returns f as an exact fraction. The numerator is an int32, and the denominator a power of two of at most
// 4096. It returns false if there is no such fraction.
func ratio(f float64) (Ratio, bool) {
	for den := 1; den <= 4096; den *= 2 {
		n := f * float64(den)
		if n == float64(int32(n)) {
			return Ratio{dim.Const(int(n)), den}, true
		}
	}
	return Ratio{}, false
}

// Load returns the module's weight called Name. The weight has type Type.
type Load struct {
	Name string
	Type Type `ir:"result"`
}

// Infer returns Type.
func (op Load) Infer([]Type) ([]Type, error) { return []Type{op.Type}, nil }

// Eval returns an error: only the evaluator has the weights of the module.
func (op Load) Eval([]*Tensor) ([]*Tensor, error) {
	return nil, fmt.Errorf("weight %q has no data", op.Name)
}

// Extents is an integer tensor of type Type whose elements Elems are expressions in the symbols. It
// is the result of shape arithmetic that is used as a tensor.
type Extents struct {
	Type  Type `ir:"result"`
	Elems []dim.Dim
}

// Infer returns Type. It returns an error if Type is not an integer tensor, or if its number of elements is not the
// length of Elems.
func (op Extents) Infer([]Type) ([]Type, error) {
	n, ok := op.Type.Elems().Int()
	if !ok || n != len(op.Elems) || !op.Type.DType.IsInt() {
		return nil, fmt.Errorf("%d elements for %s", len(op.Elems), op.Type)
	}
	return []Type{op.Type}, nil
}

// Eval returns a tensor of the elements, or an error if one still depends on a symbol.
func (op Extents) Eval([]*Tensor) ([]*Tensor, error) {
	shape, _ := op.Type.Static()
	t := NewTensor(op.Type.DType, shape...)
	for i, d := range op.Elems {
		v, ok := d.Int()
		if !ok {
			return nil, fmt.Errorf("element %d: %s has no value", i, d)
		}
		t.SetInt(i, int64(v))
	}
	return []*Tensor{t}, nil
}

// InferElems returns Elems as ratios.
func (op Extents) InferElems([]*Value, Type) []Ratio {
	elems := make([]Ratio, len(op.Elems))
	for i, d := range op.Elems {
		elems[i] = Ratio{d, 1}
	}
	return elems
}

// CheckDim checks at run time that the extents A and B are equal, because the compiler could not
// prove it. With One, A may also be 1. What names the extents in the error. A CheckDim has no
// operands and no results.
type CheckDim struct {
	A, B dim.Dim
	What string
	// One says that A may also be 1, which broadcasts to B.
	One bool
}

// Infer returns no types, because there are no results.
func (op CheckDim) Infer([]Type) ([]Type, error) { return nil, nil }

// Holds reports whether the check is known to succeed.
func (op CheckDim) Holds() bool {
	return op.A.Equal(op.B) || op.One && op.A.Equal(dim.Const(1))
}

// Eval returns an error if the check does not hold.
func (op CheckDim) Eval([]*Tensor) ([]*Tensor, error) {
	if !op.Holds() {
		return nil, fmt.Errorf("%s: %s is not %s", op.What, op.A, op.B)
	}
	return nil, nil
}

// HasEffect marks a check as a node with an effect: passes keep it, although it has no results.
func (op CheckDim) HasEffect() {}

// Assume returns its operand unchanged. The result has the extents of Type, which an earlier check
// has found equal to the extents of the operand.
type Assume struct {
	Type Type `ir:"result"`
}

// Infer returns Type. It returns an error if the operand is not a tensor, or has another element
// type or rank than Type.
func (op Assume) Infer(in []Type) ([]Type, error) {
	if len(in) != 1 || in[0].DType != op.Type.DType || in[0].Rank() != op.Type.Rank() || !in[0].IsTensor() {
		return nil, fmt.Errorf("%v is not %s", in, op.Type)
	}
	return []Type{op.Type}, nil
}

// Eval returns the operand.
func (op Assume) Eval(in []*Tensor) ([]*Tensor, error) { return in, nil }

// IsView marks the result as the memory of the operand.
func (op Assume) IsView() {}

// Invoke calls the function Func of the module. Types are the types of the results at this call.
// Extents binds symbols to extents of results that are known only after the call. Scope lists the
// symbols that the called function takes from its caller.
type Invoke struct {
	Func    string
	Types   []Type `ir:"result"`
	Scope   []dim.Dim
	Extents []ResultExtent
}

// ResultExtent binds a symbol to the extent of result number Result, counted from 0, along Axis.
type ResultExtent struct {
	Symbol       string
	Result, Axis int
}

// Binds returns the symbols that Extents binds, in the order of Extents.
func (op Invoke) Binds() []string {
	var symbols []string
	for _, e := range op.Extents {
		symbols = append(symbols, e.Symbol)
	}
	return symbols
}

// BindValues returns the value of each symbol that [Invoke.Binds] returns. It returns an error if a
// result does not have the axis.
func (op Invoke) BindValues(_, out []*Tensor) ([]int64, error) {
	values := make([]int64, len(op.Extents))
	for i, e := range op.Extents {
		if e.Result >= len(out) || e.Axis >= out[e.Result].Rank() {
			return nil, fmt.Errorf("result %d has no axis %d", e.Result, e.Axis)
		}
		values[i] = int64(out[e.Result].Shape[e.Axis])
	}
	return values, nil
}

// Infer returns the recorded types. The verifier compares them with the function's types.
func (op Invoke) Infer([]Type) ([]Type, error) { return op.Types, nil }

// Eval returns an error: only the evaluator has the functions of the module.
func (op Invoke) Eval([]*Tensor) ([]*Tensor, error) {
	return nil, fmt.Errorf("function @%s is not known", op.Func)
}
