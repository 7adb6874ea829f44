package op

import (
	"fmt"
	"math"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// TopK returns the K largest elements along Axis, or the K smallest if Smallest is set, and their i64 indices (ONNX
// TopK). The largest, or smallest, comes first, ties by index. NaN is larger than every number. K must not exceed
// the extent. If K is not constant, this is checked at run time.
type TopK struct {
	Axis     int
	K        dim.Dim
	Smallest bool
}

// Infer returns the types of the values and of the indices. Both have the operand's shape with
// extent K along Axis. Values have the operand's element type, and indices are i64.
func (op TopK) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	x := in[0]
	if op.Axis < 0 || op.Axis >= x.Rank() {
		return nil, fmt.Errorf("axis %d out of range for rank %d", op.Axis, x.Rank())
	}
	if lo, _ := op.K.Sub(x.Shape[op.Axis]).Bounds(); lo > 0 {
		return nil, fmt.Errorf("k is %s for an axis of %s", op.K, x.Shape[op.Axis])
	}
	values := ir.TensorOf(x.DType, slices.Clone(x.Shape)...)
	values.Shape[op.Axis] = op.K
	return []ir.Type{values, values.With(ir.I64)}, checkDomain(in, numbers{})
}

// Eval sorts each line along Axis. It returns the first K values of each line, and their indices. It returns an
// error if K exceeds the extent.
func (op TopK) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	k, ok := op.K.Int()
	if !ok || k < 0 || k > x.Shape[op.Axis] {
		return nil, fmt.Errorf("k is %s for an axis of %d", op.K, x.Shape[op.Axis])
	}
	shape := slices.Clone(x.Shape)
	shape[op.Axis] = k
	values, places := ir.NewTensor(x.DType, shape...), ir.NewTensor(ir.I64, shape...)
	to := linesOf(shape, op.Axis)
	if k == 0 {
		return []*ir.Tensor{values, places}, nil
	}
	for l, line := range linesOf(x.Shape, op.Axis) {
		order := AllAxes(len(line))
		slices.SortStableFunc(order, func(i, j int) int {
			order := totalOrder(x, line[i], line[j])
			if op.Smallest {
				return order
			}
			return -order
		})
		for i, at := range to[l] {
			values.Copy(at, x, line[order[i]])
			places.SetInt(at, int64(order[i]))
		}
	}
	return []*ir.Tensor{values, places}, nil
}

// Grad returns the gradient of the operand. At the indices, it is the gradient of the values. Elsewhere it is zero.
func (op TopK) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	if dy[0] == nil {
		return nil
	}
	return []*ir.Value{b.Node(ScatterElements{Axis: op.Axis}, Full(b, n.Arg(0).Type, 0), n.Results[1], dy[0])}
}

// totalOrder compares elements i and j of x. It returns −1, 0 or 1, as [cmp.Compare] does. NaN equals NaN and is
// larger than every number.
func totalOrder(x *ir.Tensor, i, j int) int {
	if order, ordered := compareElems(x, i, x, j); ordered {
		return order
	}
	switch a, b := math.IsNaN(x.Float(i)), math.IsNaN(x.Float(j)); {
	case a && b:
		return 0
	case a:
		return 1
	}
	return -1
}

// Flops counts one comparison for each element.
func (TopK) Flops(in, _ []ir.Type) dim.Dim { return in[0].Elems() }

// Lower moves Axis to the end, and computes operands of narrow types, such as f16, in a wider type. It returns nil
// if neither is needed.
func (op TopK) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	if out := lowerNarrow(b, n); out != nil {
		return out
	}
	x := n.Arg(0)
	last := x.Type.Rank() - 1
	if op.Axis == last {
		return nil
	}
	perm := axesLast(last+1, []int{op.Axis})
	back := make([]int, len(perm))
	for i, p := range perm {
		back[p] = i
	}
	op.Axis = last
	var out []*ir.Value
	for _, v := range b.Nodes(op, TransposeBy(b, x, perm...)) {
		out = append(out, TransposeBy(b, v, back...))
	}
	return out
}

func importTopK(c ir.Importer) ([]*ir.Value, error) {
	x := c.Arg(0)
	axis, err := fromFront(c.Int("axis", -1), x.Type.Rank())
	if err != nil {
		return nil, err
	}
	op := TopK{Axis: axis}
	if c.Opset() < 10 {
		op.K = dim.Const(c.Int("k", 0))
	} else if op.K, err = boundDim(c, 1, "k"); err != nil {
		return nil, err
	}
	if n, ok := op.K.Int(); ok && n < 0 {
		return nil, fmt.Errorf("k is %d", n)
	}
	if c.Opset() >= 11 {
		op.Smallest = c.Int("largest", 1) == 0
		c.Int("sorted", 1)
	}
	return c.Builder().Nodes(op, x), nil
}
