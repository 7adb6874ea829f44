// Package op defines the operators. Each is a struct of its attributes. Its methods infer its types, evaluate it,
// lower it to other operators, and import its ONNX form at every opset. The package does not know how a model file
// is written (package onnx), which kernel of a target computes an operator, nor how code is emitted (package gen).
//
// One file holds one operator, or a family of operators that differ only in a formula. Only table.go lists them. A
// comment names the first opset of an ONNX operator if this is 14 or later.
//
// # Words
//
// These words are used in the comments of the package:
//
//   - A function appends a value if it adds nodes that compute the value to the block of its [ir.Builder], and
//     returns the value.
//   - An element of a tensor is known if it is a constant or an expression of symbols, see [ir.Ratio].
//   - An element type is narrow if kernels compute its elements in a wider type. Floats of at most 16 bits are
//     narrow, and integers of less than 8 bits.
//   - A line along an axis consists of the elements that differ only in their index along this axis.
//   - The images of a tensor [N,C,spatial…] are its N slices along the first axis.
package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// CheckOperands returns an error unless the number of operands is from min to max. If max is negative, there is no
// upper limit. It also returns an error if one of the first min operands is absent.
func CheckOperands(in []ir.Type, min, max int) error {
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

// CheckTensors is [CheckOperands] for operators that accept only tensors.
func CheckTensors(in []ir.Type, min, max int) error {
	if err := CheckOperands(in, min, max); err != nil {
		return err
	}
	for i, t := range in {
		if !t.IsZero() && !t.IsTensor() {
			return fmt.Errorf("operand %d is %s, a tensor expected", i, t)
		}
	}
	return nil
}

// fromFront returns axis as an index from 0 to rank−1. A negative axis counts from the end. fromFront returns an
// error if a tensor of this rank does not have the axis.
func fromFront(axis, rank int) (int, error) {
	if axis < -rank || axis >= rank {
		return 0, fmt.Errorf("axis %d out of range for rank %d", axis, rank)
	}
	if axis < 0 {
		axis += rank
	}
	return axis, nil
}

// axesFromFront applies [fromFront] to each of axes. It also returns an error if an axis is repeated.
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

// Same compares two extents. It returns nil if they are provably equal, an error if they cannot be
// equal, and an [ir.Unproven] otherwise. name names the extents in errors, such as "inner
// dimensions".
func Same(a, b dim.Dim, name string) error {
	if a.Equal(b) {
		return nil
	}
	if d, ok := a.Sub(b).Int(); ok && d != 0 {
		return fmt.Errorf("%s: %s is not %s", name, a, b)
	}
	return &ir.Unproven{A: a, B: b, What: name}
}

func sameDType(in []ir.Type) error {
	for i, t := range in[1:] {
		if !t.IsZero() && t.DType != in[0].DType {
			return fmt.Errorf("operand %d is %s, operand 0 is %s", i+1, t.DType, in[0].DType)
		}
	}
	return nil
}

func inferFloats(in []ir.Type) error {
	if err := checkDomain(in, floats{}); err != nil {
		return err
	}
	return sameDType(in)
}

// OperandOf returns element i of a list of operands, or nil if the list is shorter.
func OperandOf[T any](operands []*T, i int) *T {
	if i < len(operands) {
		return operands[i]
	}
	return nil
}

// InferOf returns op.Infer for the types of the tensors in. A nil tensor is an absent operand.
func InferOf(op ir.Op, in []*ir.Tensor) ([]ir.Type, error) {
	types := make([]ir.Type, len(in))
	for i, t := range in {
		if t != nil {
			types[i] = t.Type()
		}
	}
	return op.Infer(types)
}
