package op

import (
	"fmt"
	"math"
	"slices"

	"github.com/burngen/burngen/ir"
)

// TopK finds the K greatest elements along Axis or, with Smallest, the K least:
// their values and their i64 places on the axis, the most extreme first and of
// equals the one before (ONNX TopK). NaN is greater than everything. K may be as
// large as the axis, which shows at run time where it is not constant.
type TopK struct {
	Axis     int
	K        ir.Dim
	Smallest bool
}

// Infer gives both results K elements along the axis.
func (op TopK) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 1, 1); err != nil {
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

// Eval sorts every line.
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
		order := allAxes(len(line))
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

// Grad puts the values' where they came from, and zeros elsewhere.
func (op TopK) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	if of[0] == nil {
		return nil
	}
	return []*ir.Value{b.Node(ScatterElements{Axis: op.Axis}, Full(b, n.Arg(0).Type, 0), n.Results[1], of[0])}
}

// totalOrder compares elements i and j of x; NaN is equal to itself and greater
// than everything else.
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
func (TopK) Flops(in, _ []ir.Type) ir.Dim { return in[0].Elems() }

// Lower moves the axis last, and computes in a wider type what kernels only store.
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
	for _, v := range b.Nodes(op, transpose(b, x, perm...)) {
		out = append(out, transpose(b, v, back...))
	}
	return out
}

// Call is cpu.TopK.
func (op TopK) Call(n *ir.Node) (ir.Call, error) {
	return ir.Call{Kernel: "TopK", Args: []any{
		ir.Out(0), ir.Out(1), ir.In(0), n.Arg(0).Type.Shape[op.Axis], op.K, op.Smallest,
	}}, nil
}

// importTopK reads TopK: k is an attribute in opset 1, an operand from opset 10;
// from opset 11 it finds the least elements, too. Elements that need no order get
// one all the same.
func importTopK(c ir.Importer) ([]*ir.Value, error) {
	x := c.Arg(0)
	axis, err := fromFront(c.Int("axis", -1), x.Type.Rank())
	if err != nil {
		return nil, err
	}
	op := TopK{Axis: axis}
	if c.Opset() < 10 {
		op.K = ir.Const(c.Int("k", 0))
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
