package op

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
)

// Transpose orders the axes of its operand anew: axis i of the result is axis
// Perm[i] of the operand.
type Transpose struct{ Perm []int }

// Infer checks that Perm is a permutation and orders the extents.
func (op Transpose) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 1, 1); err != nil {
		return nil, err
	}
	x := in[0]
	if len(op.Perm) != x.Rank() {
		return nil, fmt.Errorf("permutation %v for rank %d", op.Perm, x.Rank())
	}
	seen := make([]bool, x.Rank())
	shape := make([]ir.Dim, x.Rank())
	for i, p := range op.Perm {
		if p < 0 || p >= len(seen) || seen[p] {
			return nil, fmt.Errorf("%v is no permutation of %d axes", op.Perm, x.Rank())
		}
		seen[p] = true
		shape[i] = x.Shape[p]
	}
	return []ir.Type{ir.TensorOf(x.DType, shape...)}, nil
}

func (op Transpose) source(at, from []int) {
	for i, p := range op.Perm {
		from[p] = at[i]
	}
}

// Eval moves the elements.
func (op Transpose) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	shape := make([]int, len(op.Perm))
	for i, p := range op.Perm {
		shape[i] = in[0].Shape[p]
	}
	return move(in[0], shape, op.source)
}

// InferElems moves the elements.
func (op Transpose) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return moveElems(in[0], out, op.source)
}

// Lower makes it a Reshape where the axes longer than 1 keep their order, nothing
// where it undoes another, else a StridedCopy.
func (op Transpose) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	x, shape := n.Args[0], n.Results[0].Type.Shape
	if y := op.undone(x); y != nil {
		return []*ir.Value{b.Node(Reshape{Shape: shape}, y)}
	}
	if op.keepsOrder(x.Type.Shape) {
		return []*ir.Value{b.Node(Reshape{Shape: shape}, x)}
	}
	return []*ir.Value{b.Node(op.strided(x.Type), x)}
}

// Grad moves the axes back.
func (op Transpose) Grad(b *ir.Builder, _ *ir.Node, of []*ir.Value, _ []bool) []*ir.Value {
	return []*ir.Value{transpose(b, of[0], inversePerm(op.Perm)...)}
}

// inversePerm returns the order that undoes one.
func inversePerm(perm []int) []int {
	inverse := make([]int, len(perm))
	for i, p := range perm {
		inverse[p] = i
	}
	return inverse
}

// strided returns the copy that moves the elements.
func (op Transpose) strided(t ir.Type) StridedCopy {
	from := strides(t.Shape)
	c := StridedCopy{Shape: make([]ir.Dim, len(from)), Strides: make([]ir.Dim, len(from))}
	for i, p := range op.Perm {
		c.Shape[i], c.Strides[i] = t.Shape[p], from[p]
	}
	return c
}

// undone returns the operand of the transpose that x is, where op brings back its
// order; else nil.
func (op Transpose) undone(x *ir.Value) *ir.Value {
	if x.Def == nil {
		return nil
	}
	inner, ok := x.Def.Op.(Transpose)
	if !ok {
		return nil
	}
	for i, p := range op.Perm {
		if inner.Perm[p] != i {
			return nil
		}
	}
	return x.Def.Args[0]
}

// keepsOrder reports whether all elements stay where they are.
func (op Transpose) keepsOrder(shape []ir.Dim) bool {
	last := -1
	for _, p := range op.Perm {
		if shape[p].Equal(ir.Const(1)) {
			continue
		}
		if p < last {
			return false
		}
		last = p
	}
	return true
}

// transpose appends a Transpose, unless it would change nothing.
func transpose(b *ir.Builder, x *ir.Value, perm ...int) *ir.Value {
	for i, p := range perm {
		if i != p {
			return b.Node(Transpose{Perm: perm}, x)
		}
	}
	return x
}

// importTranspose reads Transpose; without perm the axes are reversed.
func importTranspose(c ir.Importer) ([]*ir.Value, error) {
	x := c.Arg(0)
	perm := c.Ints("perm", nil)
	if perm == nil {
		for i := range x.Type.Rank() {
			perm = append(perm, x.Type.Rank()-1-i)
		}
	}
	if len(perm) != x.Type.Rank() {
		return nil, fmt.Errorf("perm %v for rank %d", perm, x.Type.Rank())
	}
	return []*ir.Value{transpose(c.Builder(), x, perm...)}, nil
}

// IsIdentity reports whether the axes stay in order.
func (op Transpose) IsIdentity(ir.Type) bool { return slices.IsSorted(op.Perm) }

// Movement takes all elements in another order.
func (Transpose) Movement() Movement { return Rearranges }
