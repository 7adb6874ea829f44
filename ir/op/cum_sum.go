package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// CumSum is the cumulative sum along Axis, for numbers. If Exclusive is set, a sum does not include
// its own element. If Reverse is set, sums begin at the end. Integers wrap.
type CumSum struct {
	Axis               int
	Exclusive, Reverse bool
}

// CumProd is the cumulative product along Axis (ONNX CumProd, from opset 26). Exclusive and Reverse have the same
// meaning as in [CumSum].
type CumProd struct {
	Axis               int
	Exclusive, Reverse bool
}

// Infer returns the operand's type. It returns an error if the operand does not have Axis.
func (op CumSum) Infer(in []ir.Type) ([]ir.Type, error) { return inferLines(in, op.Axis, numbers{}) }

// Infer returns the operand's type. It returns an error if the operand does not have Axis.
func (op CumProd) Infer(in []ir.Type) ([]ir.Type, error) { return inferLines(in, op.Axis, numbers{}) }

func inferLines(in []ir.Type, axis int, d domain) ([]ir.Type, error) {
	if err := CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	if axis < 0 || axis >= in[0].Rank() {
		return nil, fmt.Errorf("axis %d out of range for rank %d", axis, in[0].Rank())
	}
	return in[:1], checkDomain(in, d)
}

// linesOf returns the row-major indices of the elements of each line along an axis of a tensor of the given shape.
func linesOf(shape []int, axis int) [][]int {
	keep, _ := dim.Ints(reducedShape(dim.Consts(shape...), []int{axis}, true))
	n := 1
	for _, d := range keep {
		n *= d
	}
	return groupsOf(shape, keep, n)
}

// Eval returns the cumulative sums in the operand's shape.
func (op CumSum) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return op.scan(in[0], 0, func(a, b float64) float64 { return a + b }, func(a, b int64) int64 { return a + b }), nil
}

// Grad returns the cumulative sum of dy from the other end.
func (op CumSum) Grad(b *ir.Builder, _ *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	op.Reverse = !op.Reverse
	return []*ir.Value{b.Node(op, dy[0])}
}

// Eval returns the cumulative products in the operand's shape.
func (op CumProd) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return CumSum(op).scan(in[0], 1, func(a, b float64) float64 { return a * b }, func(a, b int64) int64 { return a * b }), nil
}

// Grad returns the gradient of x. For element i it is x[0]·…·x[i−1] · Σ dy[j]·p[j]. The sum is over j ≥ i, and p[j] =
// x[i+1]·…·x[j]. If Exclusive is set, the sum is over j > i, and p[j] ends at x[j−1]. If Reverse is set, the order of
// the elements is reversed. A loop from the last element to the first computes the sums. Grad does not divide the
// result by element i, because the element may be zero.
func (op CumProd) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	x := n.Arg(0)
	rank := x.Type.Rank()
	front := append([]int{op.Axis}, otherAxes(rank, op.Axis)...)
	rows, g := TransposeBy(b, x, front...), TransposeBy(b, dy[0], front...)
	steps, row := rows.Type.Shape[0], ir.TensorOf(x.Type.DType, rows.Type.Shape[1:]...)
	backward := 1
	if op.Reverse {
		backward = 0
	}
	body := b.Block(func(b *ir.Builder) {
		c := calculus{b}
		carried, condition := bodyParams(b, []ir.Type{row})
		at := place(b, carried[0], steps, backward)
		x, g := b.Node(Gather{}, rows, at), b.Node(Gather{}, g, at)
		if op.Exclusive {
			b.Return(condition, c.add(g, c.mul(x, carried[1])), carried[1])
			return
		}
		sum := c.add(g, carried[1])
		b.Return(condition, c.mul(x, sum), sum)
	})
	out := b.NodeBlocks(Loop{Counted: true, Trips: steps, Scans: []ir.Type{row}}, []*ir.Block{body}, Full(b, row, 0))
	sums := out[1]
	if !op.Reverse {
		sums = reverse(b, sums, 0)
	}
	before := CumProd(op)
	before.Exclusive = true
	return []*ir.Value{b.Node(Mul{}, b.Node(before, x), TransposeBy(b, sums, inversePerm(front)...))}
}

// scan accumulates the elements e of each line of x along Axis. It begins with a = init, and sets a = f(a, e) for
// each element. f is `floats` for float types and `ints` for integers. The result at an element is a after its
// step, or before its step with Exclusive. ints is also right for unsigned integers, because their sums and
// products have the same bits.
func (op CumSum) scan(x *ir.Tensor, init int64, floats func(a, b float64) float64, ints func(a, b int64) int64) []*ir.Tensor {
	y := ir.NewTensor(x.DType, x.Shape...)
	for _, line := range linesOf(x.Shape, op.Axis) {
		f, n := float64(init), init
		for k := range line {
			i := line[k]
			if op.Reverse {
				i = line[len(line)-1-k]
			}
			before, count := f, n
			if x.DType.IsFloat() {
				f = floats(f, x.Float(i))
				y.SetFloat(i, choose(op.Exclusive, before, f))
			} else {
				n = ints(n, x.Int(i))
				y.SetInt(i, choose(op.Exclusive, count, n))
			}
		}
	}
	return []*ir.Tensor{y}
}

func choose[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}

// Lower computes operands of narrow types, such as f16 and i4, in a wider type and converts the
// result back.
func (CumSum) Lower(b *ir.Builder, n *ir.Node) []*ir.Value { return lowerNarrow(b, n) }

// Lower computes operands of narrow types, such as f16 and i4, in a wider type and converts the
// result back.
func (CumProd) Lower(b *ir.Builder, n *ir.Node) []*ir.Value { return lowerNarrow(b, n) }

// Flops counts one operation for each element.
func (CumSum) Flops(in, _ []ir.Type) dim.Dim { return in[0].Elems() }

// Flops counts one operation for each element.
func (CumProd) Flops(in, _ []ir.Type) dim.Dim { return in[0].Elems() }

func importCumSum(c ir.Importer) ([]*ir.Value, error) {
	return importCum(c, func(op CumSum) ir.Op { return op })
}

func importCumProd(c ir.Importer) ([]*ir.Value, error) {
	return importCum(c, func(op CumSum) ir.Op { return CumProd(op) })
}

// importCum imports CumSum or CumProd. build converts the attributes, given as a CumSum, to the operator. The axis is
// an operand. If it is not constant, importCum appends one node for each axis of x. At run time, the axis selects the
// result of one of these nodes.
func importCum(c ir.Importer, build func(CumSum) ir.Op) ([]*ir.Value, error) {
	b, x := c.Builder(), c.Arg(0)
	op := CumSum{Exclusive: c.Int("exclusive", 0) != 0, Reverse: c.Int("reverse", 0) != 0}
	along := func(axis int) *ir.Value {
		op.Axis = axis
		return b.Node(build(op), x)
	}
	rank := x.Type.Rank()
	at := c.Arg(1)
	if _, known := at.Dims(); known || at == nil || rank == 0 {
		axis, err := knownInt(c, 1, "axis")
		if err == nil {
			axis, err = fromFront(axis, rank)
		}
		if err != nil {
			return nil, err
		}
		return []*ir.Value{along(axis)}, nil
	}
	d := at.Type.DType
	at = checkedAxis(b, ReshapeTo(b, at), rank)
	y := along(0)
	for axis := 1; axis < rank; axis++ {
		y = b.Node(Where{}, b.Node(Equal{}, at, b.Scalar(d, float64(axis))), along(axis), y)
	}
	return []*ir.Value{y}, nil
}
