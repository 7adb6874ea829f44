package op

import (
	"fmt"
	"math"

	"github.com/burngen/burngen/ir"
)

// ArgMax is where the greatest element along Axis is: i64 positions, of equals the
// first or, with Last, the last. NaN is greater than everything. The axis gets
// extent 1, or goes unless KeepDims.
type ArgMax struct {
	Axis     int
	KeepDims bool
	Last     bool
}

// ArgMin is where the least element along Axis is, as [ArgMax] finds the
// greatest. NaN is less than everything.
type ArgMin struct {
	Axis     int
	KeepDims bool
	Last     bool
}

// Infer drops or shrinks the axis.
func (op ArgMax) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 1, 1); err != nil {
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

// Infer drops or shrinks the axis.
func (op ArgMin) Infer(in []ir.Type) ([]ir.Type, error) { return ArgMax(op).Infer(in) }

// Eval searches.
func (op ArgMax) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return op.search(in[0], 1), nil }

// Eval searches.
func (op ArgMin) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	return ArgMax(op).search(in[0], -1), nil
}

// search finds the elements whose order to all others is sign or 0.
func (op ArgMax) search(x *ir.Tensor, sign int) []*ir.Tensor {
	dims, axes := ir.Dims(x.Shape...), []int{op.Axis}
	keep, _ := ir.Ints(reducedShape(dims, axes, true))
	shape, _ := ir.Ints(reducedShape(dims, axes, op.KeepDims))
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

// beats reports whether element i of x is chosen over the earlier element j.
func (op ArgMax) beats(x *ir.Tensor, i, j, sign int) bool {
	if x.DType.IsFloat() {
		if nan, wasNaN := math.IsNaN(x.Float(i)), math.IsNaN(x.Float(j)); nan || wasNaN {
			return nan && (op.Last || !wasNaN)
		}
	}
	order, _ := compareElems(x, i, x, j)
	return order == sign || order == 0 && op.Last
}

// Lower searches in a wider type what kernels only store.
func (ArgMax) Lower(b *ir.Builder, n *ir.Node) []*ir.Value { return lowerNarrow(b, n) }

// Lower searches in a wider type what kernels only store.
func (ArgMin) Lower(b *ir.Builder, n *ir.Node) []*ir.Value { return lowerNarrow(b, n) }

// Flops counts one operation for each element of the operand.
func (ArgMax) Flops(in, _ []ir.Type) ir.Dim { return in[0].Elems() }

// Flops counts one operation for each element of the operand.
func (ArgMin) Flops(in, _ []ir.Type) ir.Dim { return in[0].Elems() }

// Call is cpu.ArgMax on [outer, n, inner].
func (op ArgMax) Call(n *ir.Node) (ir.Call, error) {
	return callLines("ArgMax", n.Arg(0).Type.Shape, []int{op.Axis}, op.Last), nil
}

// Call is cpu.ArgMin on [outer, n, inner].
func (op ArgMin) Call(n *ir.Node) (ir.Call, error) {
	return callLines("ArgMin", n.Arg(0).Type.Shape, []int{op.Axis}, op.Last), nil
}

// importArgMax reads ArgMax.
func importArgMax(c ir.Importer) ([]*ir.Value, error) {
	op, err := argAttributes(c)
	if err != nil {
		return nil, err
	}
	return []*ir.Value{c.Builder().Node(op, c.Arg(0))}, nil
}

// importArgMin reads ArgMin.
func importArgMin(c ir.Importer) ([]*ir.Value, error) {
	op, err := argAttributes(c)
	if err != nil {
		return nil, err
	}
	return []*ir.Value{c.Builder().Node(ArgMin(op), c.Arg(0))}, nil
}

// argAttributes reads the attributes of ArgMax and ArgMin; which of equals to
// choose can be told from opset 12.
func argAttributes(c ir.Importer) (op ArgMax, err error) {
	op.Axis, err = fromFront(c.Int("axis", 0), c.Arg(0).Type.Rank())
	op.KeepDims = c.Int("keepdims", 1) != 0
	op.Last = c.Opset() >= 12 && c.Int("select_last_index", 0) != 0
	return op, err
}
