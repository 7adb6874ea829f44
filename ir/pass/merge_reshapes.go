package pass

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// mergeReshapes merges a reshape of a reshape, and a transpose of a transpose. It replaces a
// transpose that moves no elements by a reshape. It also moves transposes from the operands of an
// operator to its result if the number of transposes does not grow. A moved transpose may then meet
// another one, and the two cancel.
func mergeReshapes(_ *Context, m *ir.Module) (changed bool, err error) {
	for _, f := range m.Funcs {
		s := &sinker{uses: f.Uses(), fixed: fixed{}}
		c, err := f.Rewrite(func(b *ir.Builder, n *ir.Node) []*ir.Value {
			v := mergeViews(b, n)
			if v == nil {
				v = s.sink(b, n)
			}
			if v == nil {
				return nil
			}
			s.uses[v] += s.uses[n.Results[0]]
			return []*ir.Value{v}
		})
		if err != nil {
			return changed, fmt.Errorf("@%s: %w", f.Name, err)
		}
		changed = changed || c
	}
	return changed, nil
}

// mergeViews returns a replacement for n, or nil. It merges a reshape with the reshape before it,
// and a transpose with the transpose before it. A transpose that moves no elements becomes a
// reshape.
func mergeViews(b *ir.Builder, n *ir.Node) *ir.Value {
	switch o := n.Op.(type) {
	case op.Reshape:
		x := n.Args[0]
		if x.Def == nil {
			return nil
		}
		if _, ok := x.Def.Op.(op.Reshape); !ok {
			return nil
		}
		x = x.Def.Args[0]
		if x.Type.Equal(n.Results[0].Type) {
			return x
		}
		return b.Node(o, x)
	case op.Transpose:
		x := n.Args[0]
		if keepsOrder(o.Perm, x.Type.Shape) {
			return b.Node(op.Reshape{Shape: n.Results[0].Type.Shape}, x)
		}
		inner, y := transposed(x)
		if inner == nil {
			return nil
		}
		perm := compose(inner, o.Perm)
		if slices.IsSorted(perm) {
			return y
		}
		return b.Node(op.Transpose{Perm: perm}, y)
	}
	return nil
}

// keepsOrder reports whether a transpose by perm moves no elements. This holds if the axes with
// extents other than 1 keep their order.
func keepsOrder(perm []int, shape []dim.Dim) bool {
	long := slices.DeleteFunc(slices.Clone(perm), func(p int) bool { return shape[p].Equal(dim.Const(1)) })
	return slices.IsSorted(long)
}

func transposed(v *ir.Value) ([]int, *ir.Value) {
	if v == nil || v.Def == nil {
		return nil, nil
	}
	if t, ok := v.Def.Op.(op.Transpose); ok {
		return t.Perm, v.Def.Args[0]
	}
	return nil, nil
}

// compose returns the permutation equal to `first` followed by `second`.
func compose(first, second []int) []int {
	perm := make([]int, len(first))
	for i, p := range second {
		perm[i] = first[p]
	}
	return perm
}

func inverse(perm []int) []int {
	inv := make([]int, len(perm))
	for i, p := range perm {
		inv[p] = i
	}
	return inv
}

type sinker struct {
	uses  map[*ir.Value]int
	fixed fixed
}

// sink returns a replacement for n: the operator is applied to the operands before their
// transposes, and its result is transposed. sink returns nil in these cases:
//
//   - The transposes differ in their permutations.
//   - Each transpose has another reader, so it would remain.
//   - An operand without a transpose depends on more than weights and constants. The new transpose
//     of this operand could not be moved to @prepare.
//   - The operator or a rank does not allow the change.
func (s *sinker) sink(b *ir.Builder, n *ir.Node) *ir.Value {
	if len(n.Results) != 1 {
		return nil
	}
	var perm []int
	saved := false
	for _, a := range n.Args {
		if p, _ := transposed(a); p != nil {
			if perm != nil && !slices.Equal(p, perm) {
				return nil
			}
			perm = p
			saved = saved || s.uses[a] == 1
		}
	}
	if !saved || len(perm) != n.Results[0].Type.Rank() {
		return nil
	}
	moved := beforeTranspose(n, perm)
	if moved == nil {
		return nil
	}
	args := make([]*ir.Value, len(n.Args))
	for i, a := range n.Args {
		p, x := transposed(a)
		switch {
		case p != nil:
			args[i] = x
		case s.fixed.has(a) && a.Type.Rank() <= len(perm):
			args[i] = transposeBack(b, a, perm)
		default:
			return nil
		}
	}
	return b.Node(op.Transpose{Perm: perm}, b.Node(moved, args...))
}

func beforeTranspose(n *ir.Node, perm []int) ir.Op {
	switch o := n.Op.(type) {
	case op.Elementwise:
		return o
	case op.Transposable:
		return o.BeforeTranspose(perm)
	}
	return nil
}

func pick[T any](s []T, perm []int) []T {
	out := make([]T, len(perm))
	for i, p := range perm {
		out[i] = s[p]
	}
	return out
}

// transposeBack appends a transpose of v by the inverse of perm, and returns it. If v has a lower
// rank than perm, transposeBack first adds leading axes. If v has one element, it returns v.
func transposeBack(b *ir.Builder, v *ir.Value, perm []int) *ir.Value {
	if v.Type.Elems().Equal(dim.Const(1)) {
		return v
	}
	if lead := len(perm) - v.Type.Rank(); lead > 0 {
		ones := slices.Repeat(dim.Consts(1), lead)
		v = b.Node(op.Reshape{Shape: append(ones, v.Type.Shape...)}, v)
	}
	return b.Node(op.Transpose{Perm: inverse(perm)}, v)
}
