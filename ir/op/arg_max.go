package op

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// ArgMax returns the i64 index of the largest element along Axis. If several elements are the largest, it returns the
// first of their indices, or the last one if Last is set. NaN is larger than every number. With KeepDims, Axis gets
// extent 1. Otherwise it is removed.
type ArgMax struct {
	Axis     int
	KeepDims bool
	Last     bool
}

// ArgMin is [ArgMax] for the smallest element along Axis, with the same attributes. NaN is smaller than every
// number.
type ArgMin struct {
	Axis     int
	KeepDims bool
	Last     bool
}

// Infer returns i64 in the operand's shape, but Axis is removed or, with KeepDims, gets extent 1. It returns an
// error if Axis has extent 0.
func (op ArgMax) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	x := in[0]
	if op.Axis < 0 || op.Axis >= x.Rank() {
		return nil, fmt.Errorf("axis %d out of range for rank %d", op.Axis, x.Rank())
	}
	if n, ok := x.Shape[op.Axis].Int(); ok && n == 0 {
		return nil, fmt.Errorf("axis %d of %s has no elements to choose from", op.Axis, x)
	}
	shape := reducedShape(x.Shape, []int{op.Axis}, op.KeepDims)
	return []ir.Type{ir.TensorOf(ir.I64, shape...)}, checkDomain(in, numbers{})
}

// Infer returns i64 in the operand's shape, but Axis is removed or, with KeepDims, gets extent 1. It returns an
// error if Axis has extent 0.
func (op ArgMin) Infer(in []ir.Type) ([]ir.Type, error) { return ArgMax(op).Infer(in) }

// Eval returns the index of the largest element of each line along Axis.
func (op ArgMax) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return op.search(in[0], 1), nil }

// Eval returns the index of the smallest element of each line along Axis.
func (op ArgMin) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return ArgMax(op).search(in[0], -1), nil
}

// search returns the index of the largest element of each line along Axis if sign is 1, and of the smallest element
// if sign is −1.
func (op ArgMax) search(x *ir.Tensor, sign int) []*ir.Tensor {
	dims, axes := dim.Consts(x.Shape...), []int{op.Axis}
	keep, _ := dim.Ints(reducedShape(dims, axes, true))
	shape, _ := dim.Ints(reducedShape(dims, axes, op.KeepDims))
	y := ir.NewTensor(ir.I64, keep...)
	for i, group := range groupsOf(x.Shape, keep, y.Len()) {
		best := 0
		for j := range group {
			if op.beats(x, group[j], group[best], sign) {
				best = j
			}
		}
		y.SetInt(i, int64(best))
	}
	return []*ir.Tensor{y.Reshape(shape...)}
}

// beats reports whether element i of x replaces element j. Element j is the largest or smallest of the elements of
// the line that come before i. sign is as in [ArgMax.search].
func (op ArgMax) beats(x *ir.Tensor, i, j, sign int) bool {
	if x.DType.IsFloat() {
		if nan, wasNaN := math.IsNaN(x.Float(i)), math.IsNaN(x.Float(j)); nan || wasNaN {
			return nan && (op.Last || !wasNaN)
		}
	}
	order, _ := compareElems(x, i, x, j)
	return order == sign || order == 0 && op.Last
}

// Lower converts operands of narrow types, such as f16 and i4, to a wider type. It returns nil for operands of
// other types.
func (ArgMax) Lower(b *ir.Builder, n *ir.Node) []*ir.Value { return lowerNarrow(b, n) }

// Lower converts operands of narrow types, such as f16 and i4, to a wider type. It returns nil for operands of
// other types.
func (ArgMin) Lower(b *ir.Builder, n *ir.Node) []*ir.Value { return lowerNarrow(b, n) }

// Flops counts one operation for each element of the operand.
func (ArgMax) Flops(in, _ []ir.Type) dim.Dim { return in[0].Elems() }

// Flops counts one operation for each element of the operand.
func (ArgMin) Flops(in, _ []ir.Type) dim.Dim { return in[0].Elems() }

func importArgMax(c ir.Importer) ([]*ir.Value, error) {
	op, err := argAttributes(c)
	if err != nil {
		return nil, err
	}
	return []*ir.Value{c.Builder().Node(op, c.Arg(0))}, nil
}

func importArgMin(c ir.Importer) ([]*ir.Value, error) {
	op, err := argAttributes(c)
	if err != nil {
		return nil, err
	}
	return []*ir.Value{c.Builder().Node(ArgMin(op), c.Arg(0))}, nil
}

func argAttributes(c ir.Importer) (op ArgMax, err error) {
	op.Axis, err = fromFront(c.Int("axis", 0), c.Arg(0).Type.Rank())
	op.KeepDims = c.Int("keepdims", 1) != 0
	op.Last = c.Opset() >= 12 && c.Int("select_last_index", 0) != 0
	return op, err
}
