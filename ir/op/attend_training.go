package op

import (
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// AttendTraining is an [AttentionTraining] on the operands of an [Attend], without sinks and a Softcap. Its results
// are the result of the Attend, and the second result of the AttentionTraining, in f32.
type AttendTraining Attend

// IsWhole makes AttendTraining a [Whole].
func (AttendTraining) IsWhole() {}

// Attend returns the [AttendTraining] that computes a node, and its operands. Its first result is the node's first
// result with rows before heads, see [RowsAndHeads]. ok is false unless the operands are f32, their extents are known
// to agree, and the numbers of heads and the widths are constant.
func (op AttentionTraining) Attend(n *ir.Node) (o AttendTraining, args []*ir.Value, ok bool) {
	args = slices.Clone(n.Args)
	a, ok := Attention(op).attend(args)
	return AttendTraining(a), args, ok
}

// RowsAndHeads appends x with its axes 1 and 2 swapped.
func RowsAndHeads(b *ir.Builder, x *ir.Value) *ir.Value { return TransposeBy(b, x, 0, 2, 1, 3) }

// attend returns the [Attend] that computes op. args are the operands of op; attend replaces the queries, keys and
// values in args by the values that they are views of. ok is false unless the operands are f32, their extents are
// known to agree, and the numbers of heads and the widths are constant.
func (op Attention) attend(args []*ir.Value) (a Attend, ok bool) {
	x, err := op.extents((&ir.Node{Args: args}).ArgTypes())
	if err != nil || args[0].Type.DType != ir.F32 {
		return a, false
	}
	for _, d := range []dim.Dim{x.heads, x.shared, x.depth, x.width} {
		if !d.IsConst() {
			return a, false
		}
	}
	a = Attend{
		Batch: x.batch, Heads: x.heads, Shared: x.shared, Queries: x.queries, Keys: x.keys, Depth: x.depth, Width: x.width,
		Scale: op.Scale, Softcap: op.Softcap, Past: op.Past, Before: op.Before, After: op.After,
	}
	for i, at := range []*[]dim.Dim{&a.Q, &a.K, &a.V} {
		args[i], *at = attendedRows(args[i])
	}
	return a, true
}

// attendedRows returns `base`, the value that v, [B,H,S,E], is a view of. layout says which elements of base are the
// rows of v, as the attribute Q of an [Attend] does.
func attendedRows(v *ir.Value) (base *ir.Value, layout []dim.Dim) {
	view := viewOf(v)
	if !view.isRows(v.Type.Shape) {
		view = stridedView{base: v, strides: RowMajor(v.Type.Shape)}
	}
	return view.base, append([]dim.Dim{view.offset}, view.strides[:3]...)
}

// copyRowsAt appends the rows of v that layout describes, as a tensor of this shape.
func copyRowsAt(b *ir.Builder, v *ir.Value, layout, shape []dim.Dim) *ir.Value {
	return b.Node(StridedCopy{Shape: shape, Strides: append(layout[1:4:4], dim.Const(1)), Offset: layout[0]}, v)
}

// Infer returns the types of the result and of the sums.
func (op AttendTraining) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 3, 6); err != nil {
		return nil, err
	}
	if op.Softcap != 0 {
		return nil, errTraining
	}
	out, err := Attend(op).Infer(in)
	if err != nil {
		return nil, err
	}
	return append(out, ir.TensorOf(ir.F32, op.Batch, op.Heads, op.Queries)), nil
}

// Eval evaluates an [AttentionTraining] on copies of the operands.
func (op AttendTraining) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	if _, err := InferOf(op, in); err != nil {
		return nil, err
	}
	args, err := Attend(op).copies(in)
	if err != nil {
		return nil, err
	}
	out, err := AttentionTraining(Attend(op).attention()).Eval(args)
	if err != nil {
		return nil, err
	}
	y, err := Attend(op).swapped(out[:1], in[0].DType)
	return append(y, out[1]), err
}

// Lower computes the node as an [AttentionTraining].
func (op AttendTraining) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	if out := lowerNarrow(b, n); out != nil {
		return out
	}
	args := slices.Clone(n.Args)
	for i, shape := range Attend(op).shapes() {
		args[i] = copyRowsAt(b, args[i], Attend(op).layouts()[i], shape)
	}
	out := b.Nodes(AttentionTraining(Attend(op).attention()), args...)
	return []*ir.Value{RowsAndHeads(b, out[0]), out[1]}
}

// Flops is as in [Attend].
func (op AttendTraining) Flops(in, out []ir.Type) dim.Dim { return Attend(op).Flops(in, out) }

// Factors returns 3: the queries, the keys and the values are multiplied.
func (AttendTraining) Factors() int { return 3 }

// Widened returns the attention with a result of f32.
func (op AttendTraining) Widened() ir.Op {
	op.Wide = true
	return op
}

// AttendGradient is an [AttentionGradient] on operands with strides. Its first five operands are the queries, the
// keys, the values, the gradient of the result, and the result. These five have one element type, f32, f16 or bf16, and
// strides as in an [Attend]. DY and Y describe the gradient of the result and the result, as Q describes the queries.
// The sixth operand, which is the second result of the AttentionTraining, is f32, and so are float masks. The gradients
// have heads after rows: [Batch,Queries,Heads,Depth], [Batch,Keys,Shared,Depth] and [Batch,Keys,Shared,Width].
type AttendGradient struct {
	Batch, Heads, Shared, Queries, Keys, Depth, Width dim.Dim

	Q, K, V, DY, Y []dim.Dim

	Scale         float64
	Past          dim.Dim
	Before, After int

	Wide bool // the gradients of narrow operands are f32
}

// IsWhole makes AttendGradient a [Whole].
func (AttendGradient) IsWhole() {}

// Attend returns the [AttendGradient] that computes a node, and its operands. Its results are the node's results with
// rows before heads, see [RowsAndHeads]. ok is false unless the operands are f32, their extents are known to agree,
// and the numbers of heads and the widths are constant.
func (op AttentionGradient) Attend(n *ir.Node) (o AttendGradient, args []*ir.Value, ok bool) {
	forward := op.forward(n)
	a, ok := Attention(op).attend(forward)
	if !ok {
		return o, nil, false
	}
	o = AttendGradient{
		Batch: a.Batch, Heads: a.Heads, Shared: a.Shared, Queries: a.Queries, Keys: a.Keys, Depth: a.Depth, Width: a.Width,
		Q: a.Q, K: a.K, V: a.V, Scale: a.Scale, Past: a.Past, Before: a.Before, After: a.After,
	}
	args = append(forward[:3:3], n.Args[3:]...)
	args[3], o.DY = attendedRows(args[3])
	args[4], o.Y = attendedRows(args[4])
	return o, args, true
}

// Forward returns the attention that it differentiates.
func (op AttendGradient) Forward() Attend {
	return Attend{
		Batch: op.Batch, Heads: op.Heads, Shared: op.Shared, Queries: op.Queries, Keys: op.Keys, Depth: op.Depth, Width: op.Width,
		Q: op.Q, K: op.K, V: op.V, Scale: op.Scale, Past: op.Past, Before: op.Before, After: op.After,
	}
}

func (op AttendGradient) gradient() AttentionGradient {
	return AttentionGradient(op.Forward().attention())
}

func (op AttendGradient) layouts() [5][]dim.Dim { return [5][]dim.Dim{op.Q, op.K, op.V, op.DY, op.Y} }

// shapes returns the shapes of the first five operands as an [AttentionGradient] has them.
func (op AttendGradient) shapes() (list [5][]dim.Dim) {
	forward := op.Forward().shapes()
	copy(list[:], forward[:])
	list[3] = []dim.Dim{op.Batch, op.Heads, op.Queries, op.Width}
	list[4] = list[3]
	return list
}

// Infer returns the types of the gradients.
func (op AttendGradient) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 6, 9); err != nil {
		return nil, err
	}
	layouts, shapes := op.layouts(), op.shapes()
	types, err := rowTypes(in, layouts[:], shapes[:])
	if err != nil {
		return nil, err
	}
	out, err := op.gradient().Infer(types)
	return Attend{Wide: op.Wide}.swappedTypes(out, in[0].DType), err
}

// Eval evaluates an [AttentionGradient] on copies of the operands.
func (op AttendGradient) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	if _, err := InferOf(op, in); err != nil {
		return nil, err
	}
	layouts, shapes := op.layouts(), op.shapes()
	args, err := copiedRows(in, layouts[:], shapes[:])
	if err != nil {
		return nil, err
	}
	out, err := op.gradient().Eval(args)
	if err != nil {
		return nil, err
	}
	return Attend{Wide: op.Wide}.swapped(out, in[0].DType)
}

// Lower computes the node as an [AttentionGradient].
func (op AttendGradient) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	if out := lowerNarrow(b, n); out != nil {
		return out
	}
	args := slices.Clone(n.Args)
	for i, shape := range op.shapes() {
		args[i] = copyRowsAt(b, args[i], op.layouts()[i], shape)
	}
	out := slices.Clone(b.Nodes(op.gradient(), args...))
	for i, v := range out {
		out[i] = RowsAndHeads(b, v)
	}
	return out
}

// Flops is as in [AttentionGradient].
func (op AttendGradient) Flops(_, _ []ir.Type) dim.Dim {
	widths := op.Depth.Mul(dim.Const(3)).Add(op.Width.Mul(dim.Const(2)))
	return dim.Product(dim.Const(2), op.Batch, op.Heads, op.Queries, op.Keys, widths)
}

// Factors returns 5: the queries, the keys, the values, the gradient of the result, and the result are multiplied.
func (AttendGradient) Factors() int { return 5 }

// Widened returns the operator with gradients of f32.
func (op AttendGradient) Widened() ir.Op {
	op.Wide = true
	return op
}
