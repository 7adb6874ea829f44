package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
)

// CumSum is the running sum along Axis, of numbers. Exclusive leaves the element
// itself out of its sum; Reverse sums from the end. Integers wrap.
type CumSum struct {
	Axis               int
	Exclusive, Reverse bool
}

// CumProd is the running product along Axis, as [CumSum] is the sum (ONNX CumProd,
// from opset 26).
type CumProd struct {
	Axis               int
	Exclusive, Reverse bool
}

// Infer gives the operand's type.
func (op CumSum) Infer(in []ir.Type) ([]ir.Type, error) { return inferLines(in, op.Axis, numbers{}) }

// Infer gives the operand's type.
func (op CumProd) Infer(in []ir.Type) ([]ir.Type, error) { return inferLines(in, op.Axis, numbers{}) }

// inferLines gives the type of the operand, which has the axis, to an operator
// that works along it.
func inferLines(in []ir.Type, axis int, d domain) ([]ir.Type, error) {
	if err := tensors(in, 1, 1); err != nil {
		return nil, err
	}
	if axis < 0 || axis >= in[0].Rank() {
		return nil, fmt.Errorf("axis %d out of range for rank %d", axis, in[0].Rank())
	}
	return in[:1], checkDomain(in, d)
}

// linesOf returns the numbers of the elements of every line along an axis.
func linesOf(shape []int, axis int) [][]int {
	keep, _ := ir.Ints(reducedShape(ir.Dims(shape...), []int{axis}, true))
	n := 1
	for _, d := range keep {
		n *= d
	}
	return groupsOf(shape, keep, n)
}

// Eval sums.
func (op CumSum) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return op.scan(in[0], 0, func(a, b float64) float64 { return a + b }, func(a, b int64) int64 { return a + b }), nil
}

// Grad sums the result's from the other end.
func (op CumSum) Grad(b *ir.Builder, _ *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	op.Reverse = !op.Reverse
	return []*ir.Value{b.Node(op, of[0])}
}

// Eval multiplies.
func (op CumProd) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return CumSum(op).scan(in[0], 1, func(a, b float64) float64 { return a * b }, func(a, b int64) int64 { return a * b }), nil
}

// Grad is, of element i, the product of those before it times what the results from it
// on make of it: the sum of their gradients, each times the elements in between. A loop
// from the last element to the first adds these up, so that zeros divide nothing.
func (op CumProd) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	x := n.Arg(0)
	rank := x.Type.Rank()
	front := append([]int{op.Axis}, otherAxes(rank, op.Axis)...)
	rows, g := transpose(b, x, front...), transpose(b, of[0], front...)
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
	return []*ir.Value{b.Node(Mul{}, b.Node(before, x), transpose(b, sums, inversePerm(front)...))}
}

// scan accumulates along the axis, from init on; the low bits of unsigned sums
// and products are those of signed ones.
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

// Lower computes in a wider type what kernels only store.
func (CumSum) Lower(b *ir.Builder, n *ir.Node) []*ir.Value { return lowerNarrow(b, n) }

// Lower computes in a wider type what kernels only store.
func (CumProd) Lower(b *ir.Builder, n *ir.Node) []*ir.Value { return lowerNarrow(b, n) }

// Flops counts one operation for each element.
func (CumSum) Flops(in, _ []ir.Type) ir.Dim { return in[0].Elems() }

// Flops counts one operation for each element.
func (CumProd) Flops(in, _ []ir.Type) ir.Dim { return in[0].Elems() }

// Call is cpu.CumSum on [outer, n, inner].
func (op CumSum) Call(n *ir.Node) (ir.Call, error) {
	return callLines("CumSum", n.Arg(0).Type.Shape, []int{op.Axis}, op.Exclusive, op.Reverse), nil
}

// Call is cpu.CumProd on [outer, n, inner].
func (op CumProd) Call(n *ir.Node) (ir.Call, error) {
	return callLines("CumProd", n.Arg(0).Type.Shape, []int{op.Axis}, op.Exclusive, op.Reverse), nil
}

// importCumSum reads CumSum.
func importCumSum(c ir.Importer) ([]*ir.Value, error) {
	return importCum(c, func(op CumSum) ir.Op { return op })
}

// importCumProd reads CumProd.
func importCumProd(c ir.Importer) ([]*ir.Value, error) {
	return importCum(c, func(op CumSum) ir.Op { return CumProd(op) })
}

// importCum reads the attributes of CumSum and CumProd, and the axis, an operand.
// Where that is not known it chooses among the results along every axis.
func importCum(c ir.Importer, of func(CumSum) ir.Op) ([]*ir.Value, error) {
	b, x := c.Builder(), c.Arg(0)
	op := CumSum{Exclusive: c.Int("exclusive", 0) != 0, Reverse: c.Int("reverse", 0) != 0}
	along := func(axis int) *ir.Value {
		op.Axis = axis
		return b.Node(of(op), x)
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
	at = checkedAxis(b, reshape(b, at), rank)
	y := along(0)
	for axis := 1; axis < rank; axis++ {
		y = b.Node(Where{}, b.Node(Equal{}, at, b.Scalar(d, float64(axis))), along(axis), y)
	}
	return []*ir.Value{y}, nil
}
