// Package op knows the operators: each is a struct of its attributes that
// infers its types, evaluates itself, says how it is lowered and which kernel
// computes it, and imports its ONNX form at every opset. It does not know how a
// model file is written (package onnx), nor how code is emitted (package gen).
//
// One file holds one operator or one family that differs in a formula only;
// table.go is the only place that lists them.
package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// operands checks the number of operands: at least min, at most max (any number
// when max is negative), the first min of them present.
func operands(in []ir.Type, min, max int) error {
	if len(in) < min || max >= 0 && len(in) > max {
		return fmt.Errorf("%d operands, %s expected", len(in), arity(min, max))
	}
	for i := range min {
		if in[i].IsZero() {
			return fmt.Errorf("operand %d is absent", i)
		}
	}
	return nil
}

func arity(min, max int) string {
	switch {
	case max < 0:
		return fmt.Sprintf("at least %d", min)
	case min == max:
		return fmt.Sprint(min)
	}
	return fmt.Sprintf("%d to %d", min, max)
}

// tensors is operands for operators that take tensors only.
func tensors(in []ir.Type, min, max int) error {
	if err := operands(in, min, max); err != nil {
		return err
	}
	for i, t := range in {
		if !t.IsZero() && !t.IsTensor() {
			return fmt.Errorf("operand %d is %s, a tensor expected", i, t)
		}
	}
	return nil
}

// fromFront returns an axis counted from the front; a negative one counts from
// the back. The axis may be equal to rank-1 at most.
func fromFront(axis, rank int) (int, error) {
	if axis < -rank || axis >= rank {
		return 0, fmt.Errorf("axis %d out of range for rank %d", axis, rank)
	}
	if axis < 0 {
		axis += rank
	}
	return axis, nil
}

// axesFromFront is fromFront for a set of axes, which may not repeat.
func axesFromFront(axes []int, rank int) ([]int, error) {
	out := make([]int, len(axes))
	seen := make([]bool, rank)
	for i, a := range axes {
		a, err := fromFront(a, rank)
		if err != nil {
			return nil, err
		}
		if seen[a] {
			return nil, fmt.Errorf("axis %d is named twice", a)
		}
		out[i], seen[a] = a, true
	}
	return out, nil
}

// same returns a proof that two extents are equal: nil, an error when they
// cannot be, an [ir.Unproven] when that shows at run time only.
func same(a, b ir.Dim, what string) error {
	if a.Equal(b) {
		return nil
	}
	if d, ok := a.Sub(b).Int(); ok && d != 0 {
		return fmt.Errorf("%s: %s is not %s", what, a, b)
	}
	return &ir.Unproven{A: a, B: b, What: what}
}

// sameDType checks that all operands that are there have one element type.
func sameDType(in []ir.Type) error {
	for i, t := range in[1:] {
		if !t.IsZero() && t.DType != in[0].DType {
			return fmt.Errorf("operand %d is %s, operand 0 is %s", i+1, t.DType, in[0].DType)
		}
	}
	return nil
}

// inferFloats checks that the operands have one float type.
func inferFloats(in []ir.Type) error {
	if err := checkDomain(in, floats{}); err != nil {
		return err
	}
	return sameDType(in)
}

// operandOf returns operand i, nil where it is absent.
func operandOf[T any](operands []*T, i int) *T {
	if i < len(operands) {
		return operands[i]
	}
	return nil
}
