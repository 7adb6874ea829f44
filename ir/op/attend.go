package op

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// Attend is an [Attention] whose queries, keys and values may have any strides, except that the elements of one
// query, key or value are adjacent. Queries, keys and values have one type, f32, f16 or bf16. Float masks and sinks
// are f32. Element (b, h, i, d) of the queries, for batch element b, head h and query i, is element Q[0] + b·Q[1] +
// h·Q[2] + i·Q[3] + d of the first operand in row-major order. K and V describe the keys and the values in the same
// way. Shared is the number of heads of keys and values. Depth is the number of elements of a query and of a key, and
// Width the number of elements of a value. The other operands and attributes are as in [Attention]. The result is
// [Batch,Queries,Heads,Width], of the type of the queries.
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
	if op.Precision != ir.Invalid && op.Precision != ir.F32 {
		return nil
	}
	args := slices.Clone(n.Args)
	op.unified(b, args)
	a, ok := op.attend(args)
	if !ok {
		return nil
	}
	return RowsAndHeads(b, b.Node(a, args...))
}

// isRows reports whether the rows along the last axis of a view of the given shape are contiguous: the axis has
// stride 1 or extent 1. It returns false if the offset or another stride may be negative.
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

// layouts returns the attributes Q, K and V, which say where the queries, the keys and the values are.
func (op Attend) layouts() [3][]dim.Dim { return [3][]dim.Dim{op.Q, op.K, op.V} }

func (op Attend) attention() Attention {
	return Attention{Scale: op.Scale, Softcap: op.Softcap, Past: op.Past, Before: op.Before, After: op.After}
}

// Infer returns [Batch,Queries,Heads,Width] of the type of the queries.
func (op Attend) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 3, 7); err != nil {
		return nil, err
	}
	layouts, shapes := op.layouts(), op.shapes()
	types, err := rowTypes(in, layouts[:], shapes[:])
	if err != nil {
		return nil, err
	}
	out, err := op.attention().Infer(types)
	return op.swappedTypes(out, in[0].DType), err
}

// rowTypes returns the types of the operands after the first len(shapes) operands have been copied to tensors of f32.
// The copy of operand i has the shape shapes[i], and layouts[i] says which elements it takes: an offset and three
// strides, as in an [Attend]. rowTypes returns an error unless the copied operands have one type, f32, f16 or bf16.
func rowTypes(in []ir.Type, layouts, shapes [][]dim.Dim) ([]ir.Type, error) {
	types, d := slices.Clone(in), in[0].DType
	if wide(d) != ir.F32 || d.Bits() < 16 {
		return nil, fmt.Errorf("operand 0 is %s, f32, f16 or bf16 expected", in[0])
	}
	for i, shape := range shapes {
		if in[i].DType != d {
			return nil, fmt.Errorf("operand %d is %s, %s expected", i, in[i], d)
		}
		if n := len(layouts[i]); n != 4 {
			return nil, fmt.Errorf("operand %d has %d distances, an offset and three expected", i, n)
		}
		types[i] = ir.TensorOf(ir.F32, shape...)
	}
	return types, nil
}

// swappedTypes returns the types of results [B,H,S,E] after axes 1 and 2 have been swapped. d is the element type of the
// operands.
func (op Attend) swappedTypes(out []ir.Type, d ir.DType) []ir.Type {
	list := make([]ir.Type, len(out))
	for i, t := range out {
		list[i] = ir.TensorOf(sumsOf(d, op.Wide), t.Shape[0], t.Shape[2], t.Shape[1], t.Shape[3])
	}
	return list
}

// Eval copies queries, keys and values to the shapes that an [Attention] has, and evaluates the Attention. It
// returns the result as [Batch,Queries,Heads,Width].
func (op Attend) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	args, err := op.copies(in)
	if err != nil {
		return nil, err
	}
	y, err := op.attention().Eval(args)
	if err != nil {
		return nil, err
	}
	return op.swapped(y, in[0].DType)
}

// copies returns the operands of the [Attention].
func (op Attend) copies(in []*ir.Tensor) ([]*ir.Tensor, error) {
	layouts, shapes := op.layouts(), op.shapes()
	return copiedRows(in, layouts[:], shapes[:])
}

// copiedRows returns operands whose rows have been copied to tensors of f32, see [rowTypes].
func copiedRows(in []*ir.Tensor, layouts, shapes [][]dim.Dim) ([]*ir.Tensor, error) {
	args := slices.Clone(in)
	for i, shape := range shapes {
		var err error
		if args[i], err = rowsIn(in[i], layouts[i], shape); err != nil {
			return nil, fmt.Errorf("operand %d: %w", i, err)
		}
	}
	return args, nil
}

// rowsIn returns the rows of x that layout describes, as f32 of this shape.
func rowsIn(x *ir.Tensor, layout, shape []dim.Dim) (*ir.Tensor, error) {
	out, err := StridedCopy{Shape: shape, Strides: append(layout[1:4:4], dim.Const(1)), Offset: layout[0]}.Eval([]*ir.Tensor{x})
	if err == nil {
		out, err = Cast{To: ir.F32}.Eval(out)
	}
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// swapped returns tensors with axes 1 and 2 swapped. It converts them to the type that the result of op has for
// operands of type d.
func (op Attend) swapped(x []*ir.Tensor, d ir.DType) ([]*ir.Tensor, error) {
	out := make([]*ir.Tensor, len(x))
	for i, t := range x {
		y, err := Cast{To: sumsOf(d, op.Wide)}.Eval([]*ir.Tensor{t})
		if err == nil {
			y, err = Transpose{Perm: []int{0, 2, 1, 3}}.Eval(y)
		}
		if err != nil {
			return nil, err
		}
		out[i] = y[0]
	}
	return out, nil
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
