package gpu

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/gen/target/gpu/launch"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/ir/pass"
)

// setPrecision returns the pass set_precision. It does nothing for precisions that store operands in their
// own types. It also runs under Strict, because the user names the precision.
func (t Target) setPrecision() pass.Pass {
	return pass.Pass{Name: "set_precision", Run: func(_ *pass.Context, m *ir.Module) (changed bool, err error) {
		to := t.Precision.stored()
		if to == ir.Invalid {
			return false, nil
		}
		for _, f := range m.Funcs {
			varies := varying(f)
			n := &narrower{to: to, wanted: wanted(f, varies), varies: varies, narrow: map[*ir.Value]*ir.Value{}}
			c, err := f.Rewrite(n.visit)
			if err != nil {
				return changed, fmt.Errorf("@%s: %w", f.Name, err)
			}
			f.Prune()
			changed = changed || c
		}
		return changed, nil
	}}
}

// narrower stores the factors and the results of f32 products in 16 bits. Their elementwise and moving
// neighbours are stored in 16 bits, too: elementwise results that a product reads, and elements that are
// moved from one product to another. All other operators compute on f32.
//
// A narrow value is followed by a cast to f32, which its readers read. A product reads the operand of the
// cast.
type narrower struct {
	to     ir.DType
	wanted map[*ir.Value]bool // f32 values that products read, at once or after moves
	varies map[*ir.Value]bool
	narrow map[*ir.Value]*ir.Value // values that have been converted
}

func (n *narrower) visit(b *ir.Builder, node *ir.Node) []*ir.Value {
	if len(node.Results) != 1 || !isF32(node.Results[0]) || !n.varies[node.Results[0]] {
		return nil
	}
	result := node.Results[0]
	if o, ok := node.Op.(op.Product); ok {
		return n.apply(b, node, min(o.Factors(), len(node.Args)))
	}
	if moved := movedOperands(node); moved > 0 {
		all := !slices.ContainsFunc(node.Args[:moved], func(a *ir.Value) bool { return n.made(a) == nil })
		if n.wanted[result] || all {
			return n.apply(b, node, moved)
		}
		return nil
	}
	if _, ok := node.Op.(op.Elementwise); ok && n.wanted[result] && n.made(result) == nil {
		y := b.Node(op.Cast{To: n.to}, b.Node(node.Op, node.Args...))
		return []*ir.Value{b.Node(op.Cast{To: ir.F32}, y)}
	}
	return nil
}

// apply applies a node to its first operands in 16 bits, and converts the result to f32. operands is
// the number of these operands. apply returns nil if no kernel computes the node on such operands.
func (n *narrower) apply(b *ir.Builder, node *ir.Node, operands int) []*ir.Value {
	if !n.computes(node, operands) {
		return nil
	}
	args := slices.Clone(node.Args)
	for i, a := range args[:operands] {
		if a != nil {
			args[i] = n.convert(b, a)
		}
	}
	return []*ir.Value{b.Node(op.Cast{To: ir.F32}, b.Node(node.Op, args...))}
}

// computes reports whether a kernel computes a node with its first operands in 16 bits. operands is
// the number of these operands. A view needs no kernel.
func (n *narrower) computes(node *ir.Node, operands int) bool {
	if _, ok := node.Op.(ir.Viewer); ok {
		return true
	}
	like := &ir.Node{Op: node.Op, Args: slices.Clone(node.Args), Results: []*ir.Value{{Type: node.Results[0].Type.With(n.to)}}}
	for i, a := range like.Args[:operands] {
		if a != nil {
			like.Args[i] = &ir.Value{Type: a.Type.With(n.to)}
		}
	}
	_, err := launch.Of(like, launch.Options{})
	return err == nil
}

// made returns the value of 16 bits that v was converted from, or nil.
func (n *narrower) made(v *ir.Value) *ir.Value {
	if v == nil || v.Def == nil || !isF32(v) {
		return nil
	}
	if _, ok := v.Def.Op.(op.Cast); ok && v.Def.Args[0].Type.DType == n.to {
		return v.Def.Args[0]
	}
	return nil
}

// convert returns a value in 16 bits. Each value is converted once.
func (n *narrower) convert(b *ir.Builder, v *ir.Value) *ir.Value {
	if made := n.made(v); made != nil {
		return made
	}
	if n.narrow[v] == nil {
		n.narrow[v] = op.ConvertTo(b, v, n.to)
	}
	return n.narrow[v]
}

// wanted returns the f32 values of f that products read, at once or after they are moved.
func wanted(f *ir.Func, varies map[*ir.Value]bool) map[*ir.Value]bool {
	all := map[*ir.Value]bool{}
	for _, n := range slices.Backward(f.Nodes) {
		operands := 0
		if o, ok := n.Op.(op.Product); ok && varies[n.Results[0]] {
			operands = min(o.Factors(), len(n.Args))
		} else if len(n.Results) == 1 && all[n.Results[0]] {
			operands = movedOperands(n)
		}
		for _, a := range n.Args[:operands] {
			if a != nil && isF32(a) {
				all[a] = true
			}
		}
	}
	return all
}

// movedOperands returns the number of operands of n, from the first, whose elements become elements of
// the result. It is 0 if n computes new elements.
func movedOperands(n *ir.Node) int {
	switch op.MovementOf(n.Op) {
	case op.Joins:
		return len(n.Args)
	case op.Rearranges, op.Repeats, op.Picks:
		return 1
	}
	if _, ok := n.Op.(op.Selector); ok {
		return 1
	}
	return 0
}

// varying returns the values of f that do not depend only on weights and constants. Products of weights
// are not rounded.
func varying(f *ir.Func) map[*ir.Value]bool {
	all := map[*ir.Value]bool{}
	for _, p := range f.Params {
		all[p] = true
	}
	for _, n := range f.Nodes {
		varies := !n.IsStored() && len(n.Args) == 0
		for _, a := range n.Args {
			varies = varies || all[a]
		}
		for _, r := range n.Results {
			all[r] = varies
		}
	}
	return all
}

func isF32(v *ir.Value) bool { return v.Type.IsTensor() && v.Type.DType == ir.F32 }
