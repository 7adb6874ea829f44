package op

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
)

// Attend is an [Attention] of f32 whose queries, keys and values lie in any order in
// tensors: element (b, h, i, d) of the queries is element Q[0] + b·Q[1] + h·Q[2] +
// i·Q[3] + d of the first operand, row-major, and so on for keys and values. The other
// operands are the attention's; the result is [Batch,Queries,Heads,Width].
type Attend struct {
	Batch, Heads, Shared, Queries, Keys, Depth, Width ir.Dim

	Q, K, V []ir.Dim

	Scale, Softcap float64
	Past           ir.Dim
	Before, After  int
}

// lowerAttend appends an Attend and returns its result as [B,H,S,E]; nil where the
// kernel cannot compute it.
func (op Attention) lowerAttend(b *ir.Builder, n *ir.Node) *ir.Value {
	if n.Arg(0).Type.DType != ir.F32 || op.Precision != ir.Invalid && op.Precision != ir.F32 {
		return nil
	}
	args := slices.Clone(n.Args)
	x := op.unified(b, args)
	for _, d := range []ir.Dim{x.heads, x.shared, x.depth, x.width} {
		if !d.IsConst() {
			return nil
		}
	}
	a := Attend{
		Batch: x.batch, Heads: x.heads, Shared: x.shared, Queries: x.queries, Keys: x.keys, Depth: x.depth, Width: x.width,
		Scale: op.Scale, Softcap: op.Softcap, Past: op.Past, Before: op.Before, After: op.After,
	}
	for i, at := range []*[]ir.Dim{&a.Q, &a.K, &a.V} {
		view := viewOf(args[i])
		if !view.isRows() {
			view = stridedView{base: args[i], strides: strides(args[i].Type.Shape)}
		}
		args[i] = view.base
		*at = append([]ir.Dim{view.offset}, view.strides[:3]...)
	}
	return transpose(b, b.Node(a, args...), 0, 2, 1, 3)
}

// isRows reports whether neighbours of the last axis are neighbours and no stride is
// negative.
func (s *stridedView) isRows() bool {
	last := len(s.strides) - 1
	if d := s.strides[last]; !d.Equal(ir.Const(1)) && !d.Equal(ir.Dim{}) {
		return false
	}
	for _, d := range append(s.strides[:last:last], s.offset) {
		if !d.NonNegative() {
			return false
		}
	}
	return true
}

// shapes returns the shapes of queries, keys and values as an attention has them.
func (op Attend) shapes() [3][]ir.Dim {
	return [3][]ir.Dim{
		{op.Batch, op.Heads, op.Queries, op.Depth},
		{op.Batch, op.Shared, op.Keys, op.Depth},
		{op.Batch, op.Shared, op.Keys, op.Width},
	}
}

func (op Attend) attention() Attention {
	return Attention{Scale: op.Scale, Softcap: op.Softcap, Past: op.Past, Before: op.Before, After: op.After}
}

// Infer gives [B,S,H,E].
func (op Attend) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 3, 7); err != nil {
		return nil, err
	}
	types := slices.Clone(in)
	for i, shape := range op.shapes() {
		if in[i].DType != ir.F32 {
			return nil, fmt.Errorf("operand %d is %s, f32 expected", i, in[i])
		}
		if len([][]ir.Dim{op.Q, op.K, op.V}[i]) != 4 {
			return nil, fmt.Errorf("operand %d has %d distances, an offset and three expected", i, len([][]ir.Dim{op.Q, op.K, op.V}[i]))
		}
		types[i] = ir.TensorOf(ir.F32, shape...)
	}
	out, err := op.attention().Infer(types)
	if err != nil {
		return nil, err
	}
	y := out[0].Shape
	return []ir.Type{ir.TensorOf(ir.F32, y[0], y[2], y[1], y[3])}, nil
}

// Eval copies the operands and evaluates the attention.
func (op Attend) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	args := slices.Clone(in)
	for i, shape := range op.shapes() {
		at := [][]ir.Dim{op.Q, op.K, op.V}[i]
		x, err := StridedCopy{Shape: shape, Strides: append(at[1:4:4], ir.Const(1)), Offset: at[0]}.Eval(in[i : i+1])
		if err != nil {
			return nil, fmt.Errorf("operand %d: %w", i, err)
		}
		args[i] = x[0]
	}
	y, err := op.attention().Eval(args)
	if err != nil {
		return nil, err
	}
	return Transpose{Perm: []int{0, 2, 1, 3}}.Eval(y)
}

// Flops counts two operations for each product.
func (op Attend) Flops(_, _ []ir.Type) ir.Dim {
	return ir.Product(ir.Const(2), op.Batch, op.Heads, op.Queries, op.Keys, op.Depth.Add(op.Width))
}

// Sizes of the kernel's blocks, and how many parts of an attention there is memory to
// compute at a time.
const (
	attendQueries = 128
	attendKeys    = 256
	attendParts   = 16
)

// scratch is what cpu.AttentionScratch gives, for several parts.
func (op Attend) scratch() ir.Scratch {
	lanes, rows := ir.Const(block), ir.Const(14)
	keys := ir.Const(attendKeys)
	if op.Keys.IsConst() {
		keys = op.Keys.CeilDiv(lanes).Mul(lanes).Min(keys)
	}
	each := rows.Mul(op.Depth.Add(lanes)).Add(rows.Mul(keys.Add(lanes))).Add(keys.Mul(op.Depth)).Add(keys.Mul(op.Width.CeilDiv(lanes)).Mul(lanes))
	parts := ir.Const(attendParts)
	if op.Queries.IsConst() {
		parts = parts.Min(op.Heads.Mul(op.Queries.CeilDiv(ir.Const(attendQueries))).Max(ir.Const(1)))
	}
	return ir.Scratch{DType: ir.F32, Len: each.Mul(parts)}
}

// Call is cpu.Attention.
func (op Attend) Call(n *ir.Node) (ir.Call, error) {
	row := op.Heads.Mul(op.Width)
	shape := ir.Struct{Type: "AttentionShape", Fields: []ir.Field{
		{Name: "Batch", Value: op.Batch},
		{Name: "Heads", Value: op.Heads},
		{Name: "Shared", Value: op.Shared},
		{Name: "Queries", Value: op.Queries},
		{Name: "Keys", Value: op.Keys},
		{Name: "Depth", Value: op.Depth},
		{Name: "Width", Value: op.Width},
		{Name: "Q", Value: op.Q},
		{Name: "K", Value: op.K},
		{Name: "V", Value: op.V},
		{Name: "Y", Value: []ir.Dim{{}, op.Queries.Mul(row), op.Width, row}},
		{Name: "Scale", Value: ir.Number{DType: ir.F32, Float: op.Scale}},
		{Name: "Softcap", Value: ir.Number{DType: ir.F32, Float: op.Softcap}},
		{Name: "Past", Value: op.Past},
		{Name: "Before", Value: op.Before},
		{Name: "After", Value: op.After},
	}}
	mask := ir.Struct{Type: "AttentionMask", Fields: []ir.Field{
		{Name: "Lengths", Value: ir.In(4)},
		{Name: "Starts", Value: ir.In(5)},
		{Name: "Sinks", Value: ir.In(6)},
	}}
	if m := n.Arg(3); m != nil {
		name := "Add"
		if m.Type.DType == ir.Bool {
			name = "Allow"
		}
		mask.Fields = append(mask.Fields, ir.Field{Name: name, Value: ir.In(3)})
		shape.Fields = append(shape.Fields, ir.Field{Name: "Mask", Value: op.maskStrides(m.Type)})
	}
	return ir.Call{Kernel: "Attention", Args: []any{ir.Out(0), ir.In(0), ir.In(1), ir.In(2), op.scratch(), shape, mask}}, nil
}

// maskStrides returns the distances in a mask of elements of the batch, heads, queries
// and keys. An extent that may be 1 or that of the scores has 0 or its distance.
func (op Attend) maskStrides(mask ir.Type) []ir.Dim {
	out, dense := make([]ir.Dim, 4), strides(mask.Shape)
	lead := 4 - len(dense)
	for i, d := range dense {
		to := []ir.Dim{op.Batch, op.Heads, op.Queries, op.Keys}[lead+i]
		switch m := mask.Shape[i]; {
		case m.Equal(to):
			out[lead+i] = d
		case !m.Equal(ir.Const(1)):
			out[lead+i] = d.Mul(m.Sub(ir.Const(1)).Max(ir.Dim{}).Min(ir.Const(1)))
		}
	}
	return out
}
