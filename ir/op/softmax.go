package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op/internal/portable"
)

// Softmax scales e^x to sum to one along Axis, of floats. Where it is not Exact its kernel
// may give 0 for shares below the least normal number.
type Softmax struct {
	Axis  int
	Exact bool
}

// LogSoftmax is the natural logarithm of [Softmax], of floats.
type LogSoftmax struct{ Axis int }

// Infer gives the operand's type.
func (op Softmax) Infer(in []ir.Type) ([]ir.Type, error) { return inferLines(in, op.Axis, floats{}) }

// Infer gives the operand's type.
func (op LogSoftmax) Infer(in []ir.Type) ([]ir.Type, error) { return inferLines(in, op.Axis, floats{}) }

// Eval subtracts the greatest element of a line first, so that no exponential
// overflows.
func (op Softmax) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return mapLines(in[0], op.Axis, func(line []float64) {
		total := exponentials(line)
		for i, v := range line {
			line[i] = portable.Exp(v) / total
		}
	}), nil
}

// Eval subtracts the greatest element of a line first, so that no exponential
// overflows.
func (op LogSoftmax) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return mapLines(in[0], op.Axis, func(line []float64) {
		log := portable.Log(exponentials(line))
		for i, v := range line {
			line[i] = v - log
		}
	}), nil
}

// exponentials subtracts the greatest element from a line and returns the sum of
// the exponentials of what is left.
func exponentials(line []float64) (total float64) {
	top := reductions[ReduceMax].float(line)
	for i := range line {
		line[i] -= top
		total += portable.Exp(line[i])
	}
	return total
}

// mapLines applies a function to every line of floats along an axis.
func mapLines(x *ir.Tensor, axis int, f func(line []float64)) []*ir.Tensor {
	y := ir.NewTensor(x.DType, x.Shape...)
	for _, numbers := range linesOf(x.Shape, axis) {
		line := pick(numbers, x.Float)
		f(line)
		for k, i := range numbers {
			y.SetFloat(i, line[k])
		}
	}
	return []*ir.Tensor{y}
}

// Overwrites lists the operand.
func (Softmax) Overwrites() []int { return []int{0} }

// Overwrites lists the operand.
func (LogSoftmax) Overwrites() []int { return []int{0} }

// Flops counts three operations for each element.
func (Softmax) Flops(in, _ []ir.Type) ir.Dim { return in[0].Elems().Mul(ir.Const(3)) }

// Flops counts three operations for each element.
func (LogSoftmax) Flops(in, _ []ir.Type) ir.Dim { return in[0].Elems().Mul(ir.Const(3)) }

// Lower computes in a wider type what kernels only store.
func (Softmax) Lower(b *ir.Builder, n *ir.Node) []*ir.Value { return lowerNarrow(b, n) }

// Lower computes in a wider type what kernels only store.
func (LogSoftmax) Lower(b *ir.Builder, n *ir.Node) []*ir.Value { return lowerNarrow(b, n) }

// Call is cpu.Softmax on [rows, n, inner].
func (op Softmax) Call(n *ir.Node) (ir.Call, error) {
	if op.Exact {
		return callLines("SoftmaxExact", n.Arg(0).Type.Shape, []int{op.Axis}), nil
	}
	return callLines("Softmax", n.Arg(0).Type.Shape, []int{op.Axis}), nil
}

// Grad is y(g − Σgy) along the axis, where g is the result's.
func (op Softmax) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	c, g, y := calculus{b}, of[0], n.Results[0]
	return []*ir.Value{c.mul(y, c.sub(g, c.sum(c.mul(g, y), true, op.Axis)))}
}

// Call is cpu.LogSoftmax on [rows, n, inner].
func (op LogSoftmax) Call(n *ir.Node) (ir.Call, error) {
	return callLines("LogSoftmax", n.Arg(0).Type.Shape, []int{op.Axis}), nil
}

// Grad is g − e^y·Σg along the axis, where g is the result's.
func (op LogSoftmax) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	c, g, y := calculus{b}, of[0], n.Results[0]
	return []*ir.Value{c.sub(g, c.mul(c.Node(Exp{}, y), c.sum(g, true, op.Axis)))}
}

// importSoftmax returns the import of an operator along an axis (ONNX Softmax,
// LogSoftmax, Hardmax). Before opset 13 the operand was taken as a matrix, from
// the axis on one row, and the axis was 1 unless it was given.
func importSoftmax(along func(axis int) ir.Op) func(ir.Importer) ([]*ir.Value, error) {
	return func(c ir.Importer) ([]*ir.Value, error) {
		b, x := c.Builder(), c.Arg(0)
		rank := x.Type.Rank()
		if c.Opset() >= 13 {
			axis, err := fromFront(c.Int("axis", -1), rank)
			if err != nil {
				return nil, err
			}
			return []*ir.Value{b.Node(along(axis), x)}, nil
		}
		axis := c.Int("axis", 1)
		if axis < 0 {
			axis += rank
		}
		if axis < 0 || axis > rank {
			return nil, fmt.Errorf("axis %d out of range for rank %d", axis, rank)
		}
		shape := x.Type.Shape
		m := reshape(b, x, ir.Product(shape[:axis]...), ir.Product(shape[axis:]...))
		return []*ir.Value{reshape(b, b.Node(along(1), m), shape...)}, nil
	}
}

// RowAxis is the last axis, the only one of a row.
func (op Softmax) RowAxis(rank int) (axis int, ok bool) { return op.Axis, op.Axis == rank-1 }

// AtAxis moves Axis.
func (op Softmax) AtAxis(axis int) ir.Op {
	op.Axis = axis
	return op
}

// RowAxis is the last axis, the only one of a row.
func (op LogSoftmax) RowAxis(rank int) (axis int, ok bool) { return op.Axis, op.Axis == rank-1 }

// AtAxis moves Axis.
func (op LogSoftmax) AtAxis(axis int) ir.Op {
	op.Axis = axis
	return op
}
