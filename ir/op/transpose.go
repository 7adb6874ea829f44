package op

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// Transpose permutes the axes of its operand: axis i of the result is axis Perm[i] of the operand.
type Transpose struct{ Perm []int }

// Infer returns the operand's type with its extents permuted. It returns an error unless Perm is a permutation of
// the axes.
func (op Transpose) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 1, 1); err != nil {
		return nil, err
	}
	x := in[0]
	if len(op.Perm) != x.Rank() {
		return nil, fmt.Errorf("permutation %v for rank %d", op.Perm, x.Rank())
	}
	seen := make([]bool, x.Rank())
	shape := make([]dim.Dim, x.Rank())
	for i, p := range op.Perm {
		if p < 0 || p >= len(seen) || seen[p] {
			return nil, fmt.Errorf("%v is not a permutation of %d axes", op.Perm, x.Rank())
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

// Eval returns the operand with permuted axes.
func (op Transpose) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	shape := make([]int, len(op.Perm))
	for i, p := range op.Perm {
		shape[i] = in[0].Shape[p]
	}
	return move(in[0], shape, op.source)
}

// InferElems returns the known elements in the order of the result.
func (op Transpose) InferElems(in []*ir.Value, out ir.Type) []ir.Ratio {
	return moveElems(in[0], out, op.source)
}

// Lower replaces the node. If the axes of extents above 1 keep their order, it uses a [Reshape]. If the node undoes
// an earlier transpose, it uses a Reshape of that transpose's operand. Otherwise it uses a [StridedCopy].
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

// Grad returns dy with the axes in the operand's order.
func (op Transpose) Grad(b *ir.Builder, _ *ir.Node, dy []*ir.Value, _ []bool) []*ir.Value {
	return []*ir.Value{TransposeBy(b, dy[0], inversePerm(op.Perm)...)}
}

func inversePerm(perm []int) []int {
	inverse := make([]int, len(perm))
	for i, p := range perm {
		inverse[p] = i
	}
	return inverse
}

func (op Transpose) strided(t ir.Type) StridedCopy {
	from := RowMajor(t.Shape)
	c := StridedCopy{Shape: make([]dim.Dim, len(from)), Strides: make([]dim.Dim, len(from))}
	for i, p := range op.Perm {
		c.Shape[i], c.Strides[i] = t.Shape[p], from[p]
	}
	return c
}

// undone returns the operand of x if x is a transpose and op undoes it. Otherwise it returns nil.
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

// keepsOrder reports whether a transpose of a tensor of the given shape leaves the elements in their order. It does
// if the axes with extents other than 1 keep their order.
func (op Transpose) keepsOrder(shape []dim.Dim) bool {
	last := -1
	for _, p := range op.Perm {
		if shape[p].Equal(dim.Const(1)) {
			continue
		}
		if p < last {
			return false
		}
		last = p
	}
	return true
}

// TransposeBy appends a transpose of x by perm. It returns x if perm does not change the order of the axes.
func TransposeBy(b *ir.Builder, x *ir.Value, perm ...int) *ir.Value {
	for i, p := range perm {
		if i != p {
			return b.Node(Transpose{Perm: perm}, x)
		}
	}
	return x
}

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
	return []*ir.Value{TransposeBy(c.Builder(), x, perm...)}, nil
}

// IsIdentity reports whether Perm leaves the axes in order.
func (op Transpose) IsIdentity(ir.Type) bool { return slices.IsSorted(op.Perm) }

// Movement returns Rearranges: each element occurs once.
func (Transpose) Movement() Movement { return Rearranges }
