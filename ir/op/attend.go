package op

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// Attend is an [Attention] whose queries, keys and values may have any strides, except that the elements of one
// query, key or value are adjacent. Queries, keys and values have one type, f32, f16 or bf16. Masks and sinks are
// f32. Element (b, h, i, d) of the queries, for batch element b, head h and query i, is element Q[0] + b·Q[1] +
// h·Q[2] + i·Q[3] + d of the first operand in row-major order. K and V describe the keys and the values in the same
// way. Shared is the number of heads of keys and values. Depth is the number of elements of a query and of a key,
// and Width the number of elements of a value. The other operands and attributes are as in [Attention]. The result
// is [Batch,Queries,Heads,Width], of the type of the queries.
type Attend struct {
	Batch, Heads, Shared, Queries, Keys, Depth, Width dim.Dim

	Q, K, V []dim.Dim

	Scale, Softcap float64
	Past           dim.Dim
	Before, After  int

	Wide bool // the result of narrow queries, keys and values is f32
}

// lowerAttend appends an [Attend] and returns its result as [B,H,S,E]. It returns nil if the kernel of Attend
// cannot compute the attention.
func (op Attention) lowerAttend(b *ir.Builder, n *ir.Node) *ir.Value {
	if n.Arg(0).Type.DType != ir.F32 || op.Precision != ir.Invalid && op.Precision != ir.F32 {
		return nil
	}
	args := slices.Clone(n.Args)
	x := op.unified(b, args)
	for _, d := range []dim.Dim{x.heads, x.shared, x.depth, x.width} {
		if !d.IsConst() {
			return nil
		}
	}
	a := Attend{
		Batch: x.batch, Heads: x.heads, Shared: x.shared, Queries: x.queries, Keys: x.keys, Depth: x.depth, Width: x.width,
		Scale: op.Scale, Softcap: op.Softcap, Past: op.Past, Before: op.Before, After: op.After,
	}
	for i, at := range []*[]dim.Dim{&a.Q, &a.K, &a.V} {
		view := viewOf(args[i])
		if !view.isRows(args[i].Type.Shape) {
			view = stridedView{base: args[i], strides: RowMajor(args[i].Type.Shape)}
		}
		args[i] = view.base
		*at = append([]dim.Dim{view.offset}, view.strides[:3]...)
	}
	return TransposeBy(b, b.Node(a, args...), 0, 2, 1, 3)
}

// isRows reports whether the last axis of a view of the given shape has stride 1 or extent 1, and the other numbers
// (the offset and the other strides) are never negative.
func (s *stridedView) isRows(shape []dim.Dim) bool {
	last, one := len(s.strides)-1, dim.Const(1)
	if !s.strides[last].Equal(one) && !shape[last].Equal(one) {
		return false
	}
	for _, d := range append(s.strides[:last:last], s.offset) {
		if !d.NonNegative() {
			return false
		}
	}
	return true
}

// shapes returns the shapes of the queries, [B,H,S,D], the keys, [B,G,T,D], and the values, [B,G,T,E], of the
// corresponding [Attention].
func (op Attend) shapes() [3][]dim.Dim {
	return [3][]dim.Dim{
		{op.Batch, op.Heads, op.Queries, op.Depth},
		{op.Batch, op.Shared, op.Keys, op.Depth},
		{op.Batch, op.Shared, op.Keys, op.Width},
	}
}

func (op Attend) attention() Attention {
	return Attention{Scale: op.Scale, Softcap: op.Softcap, Past: op.Past, Before: op.Before, After: op.After}
}

// Infer returns [Batch,Queries,Heads,Width] of the type of the queries.
func (op Attend) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 3, 7); err != nil {
		return nil, err
	}
	types, d := slices.Clone(in), in[0].DType
	if wide(d) != ir.F32 || d.Bits() < 16 {
		return nil, fmt.Errorf("operand 0 is %s, f32, f16 or bf16 expected", in[0])
	}
	for i, shape := range op.shapes() {
		if in[i].DType != d {
			return nil, fmt.Errorf("operand %d is %s, %s expected", i, in[i], d)
		}
		if len([][]dim.Dim{op.Q, op.K, op.V}[i]) != 4 {
			return nil, fmt.Errorf("operand %d has %d distances, an offset and three expected", i, len([][]dim.Dim{op.Q, op.K, op.V}[i]))
		}
		types[i] = ir.TensorOf(ir.F32, shape...)
	}
	out, err := op.attention().Infer(types)
	if err != nil {
		return nil, err
	}
	y := out[0].Shape
	return []ir.Type{ir.TensorOf(sumsOf(d, op.Wide), y[0], y[2], y[1], y[3])}, nil
}

// Eval copies queries, keys and values to the shapes that an [Attention] has, and evaluates the Attention. It
// returns the result as [Batch,Queries,Heads,Width].
func (op Attend) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	args := slices.Clone(in)
	for i, shape := range op.shapes() {
		at := [][]dim.Dim{op.Q, op.K, op.V}[i]
		x, err := StridedCopy{Shape: shape, Strides: append(at[1:4:4], dim.Const(1)), Offset: at[0]}.Eval(in[i : i+1])
		if err != nil {
			return nil, fmt.Errorf("operand %d: %w", i, err)
		}
		if x, err = (Cast{To: ir.F32}).Eval(x); err != nil {
			return nil, err
		}
		args[i] = x[0]
	}
	y, err := op.attention().Eval(args)
	if err != nil {
		return nil, err
	}
	if y, err = (Cast{To: sumsOf(in[0].DType, op.Wide)}).Eval(y); err != nil {
		return nil, err
	}
	return Transpose{Perm: []int{0, 2, 1, 3}}.Eval(y)
}

// Flops counts a multiplication and an addition for each term of the scores, and for each term of the weighted sums
// of values.
func (op Attend) Flops(_, _ []ir.Type) dim.Dim {
	return dim.Product(dim.Const(2), op.Batch, op.Heads, op.Queries, op.Keys, op.Depth.Add(op.Width))
}

// Factors returns 3: the queries, the keys and the values.
func (Attend) Factors() int { return 3 }

// Widened returns the attention with a result of f32.
func (op Attend) Widened() ir.Op {
	op.Wide = true
	return op
}
