package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op/internal/portable"
)

// Softmax is e^x divided by the sum of e^x along Axis, for floats. Unless Exact is set, the kernel may return 0 for
// results below the smallest normal number.
type Softmax struct {
	Axis  int
	Exact bool
}

// LogSoftmax is the natural logarithm of a [Softmax] along Axis, for floats.
type LogSoftmax struct{ Axis int }

// Infer returns the operand's type. It returns an error if the operand does not have Axis.
func (op Softmax) Infer(in []ir.Type) ([]ir.Type, error) { return inferLines(in, op.Axis, floats{}) }

// Infer returns the operand's type. It returns an error if the operand does not have Axis.
func (op LogSoftmax) Infer(in []ir.Type) ([]ir.Type, error) { return inferLines(in, op.Axis, floats{}) }

// Eval returns the softmax of each line along Axis. It first subtracts the maximum of the line, because the
// exponentials could overflow otherwise.
func (op Softmax) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return mapLines(in[0], op.Axis, func(line []float64) {
		total := exponentials(line)
		for i, v := range line {
			line[i] = portable.Exp(v) / total
		}
	}), nil
}

// Eval returns the log-softmax of each line along Axis. It first subtracts the maximum of the line, because the
// exponentials could overflow otherwise.
func (op LogSoftmax) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return mapLines(in[0], op.Axis, func(line []float64) {
		log := portable.Log(exponentials(line))
		for i, v := range line {
			line[i] = v - log
		}
	}), nil
}

// exponentials subtracts the maximum of a line from each element, in place. It returns the sum of e^x over the new
// elements x.
func exponentials(line []float64) (total float64) {
	top := reductions[ReduceMax].float(line)
	for i := range line {
		line[i] -= top
		total += portable.Exp(line[i])
	}
	return total
}

// mapLines returns one tensor, a copy of x in which f has changed each line along axis.
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

// Overwrites allows the result to reuse the memory of the operand.
func (Softmax) Overwrites() []int { return []int{0} }

// Overwrites allows the result to reuse the memory of the operand.
func (LogSoftmax) Overwrites() []int { return []int{0} }

// Flops counts three operations for each element.
func (Softmax) Flops(in, _ []ir.Type) dim.Dim { return in[0].Elems().Mul(dim.Const(3)) }

// Flops counts three operations for each element.
func (LogSoftmax) Flops(in, _ []ir.Type) dim.Dim { return in[0].Elems().Mul(dim.Const(3)) }

// Lower computes floats of at most 16 bits in f32 and converts the result back.
func (Softmax) Lower(b *ir.Builder, n *ir.Node) []*ir.Value { return lowerNarrow(b, n) }

// Lower computes floats of at most 16 bits in f32 and converts the result back.
func (LogSoftmax) Lower(b *ir.Builder, n *ir.Node) []*ir.Value { return lowerNarrow(b, n) }

// Grad returns y·(dy − Σ dy·y), where the sum is along the axis.
func (op Softmax) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	c, g, y := calculus{b}, dy[0], n.Results[0]
	return []*ir.Value{c.mul(y, c.sub(g, c.sum(c.mul(g, y), true, op.Axis)))}
}

// Grad returns dy − e^y·Σ dy, where the sum is along the axis.
func (op LogSoftmax) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	c, g, y := calculus{b}, dy[0], n.Results[0]
	return []*ir.Value{c.sub(g, c.mul(c.Node(Exp{}, y), c.sum(g, true, op.Axis)))}
}

// importSoftmax returns the import function of an operator along an axis (ONNX Softmax, LogSoftmax, Hardmax).
// Before opset 13, the operator treats `axis` and all axes after it as one axis, and the default axis is 1.
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
		m := ReshapeTo(b, x, dim.Product(shape[:axis]...), dim.Product(shape[axis:]...))
		return []*ir.Value{ReshapeTo(b, b.Node(along(1), m), shape...)}, nil
	}
}

// RowAxis returns Axis. ok is false unless Axis is the last axis, because the softmax works along a single axis.
func (op Softmax) RowAxis(rank int) (axis int, ok bool) { return op.Axis, op.Axis == rank-1 }

// AtAxis returns the operator along axis.
func (op Softmax) AtAxis(axis int) ir.Op {
	op.Axis = axis
	return op
}

// RowAxis returns Axis. ok is false unless Axis is the last axis, because the log-softmax works along a single
// axis.
func (op LogSoftmax) RowAxis(rank int) (axis int, ok bool) { return op.Axis, op.Axis == rank-1 }

// AtAxis returns the operator along axis.
func (op LogSoftmax) AtAxis(axis int) ir.Op {
	op.Axis = axis
	return op
}
