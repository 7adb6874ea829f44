package gpu

import (
	"fmt"
	"slices"

	"github.com/burngen/burngen/gen/target/gpu/launch"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/ir/pass"
)

// setPrecision returns the pass set_precision. The pass does nothing for precisions that store operands in their own
// types. The pass also runs in strict mode, because the user chose the precision.
func (t Target) setPrecision() pass.Pass {
	return pass.Pass{Name: "set_precision", Run: func(ctx *pass.Context, m *ir.Module) (changed bool, err error) {
		to := t.Precision.stored()
		if to == ir.Invalid {
			return false, nil
		}
		for _, f := range m.Funcs {
			n := &narrower{to: to, prepared: func(*ir.Value) bool { return false }, narrow: map[*ir.Value]*ir.Value{}}
			if ctx.Prepares(m, f) {
				n.prepared = pass.Fixed()
			}
			n.want(f)
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

// narrower stores the factors of f32 products in 16 bits. If a product or an elementwise operator computes a factor,
// the factor is stored in 16 bits at once. Operators that only move its elements then also store 16 bits. Other
// factors are converted before the product. A product whose result is not a factor gives f32, so that additions,
// softmaxes and norms read unrounded sums. All other operators compute on f32.
//
// A value stored in 16 bits is followed by a cast to f32 for its readers. A product reads the operand of the cast.
type narrower struct {
	to       ir.DType
	prepared func(*ir.Value) bool    // whether a value is computed once, with the weights; such products stay f32
	wanted   map[*ir.Value]bool      // f32 values that products read, at once or after moves
	narrow   map[*ir.Value]*ir.Value // values that have been converted
}

func (n *narrower) visit(b *ir.Builder, node *ir.Node) []*ir.Value {
	if _, ok := node.Op.(op.Whole); ok {
		if o, ok := node.Op.(op.Product); ok {
			return n.applyWhole(b, node, o)
		}
	}
	if len(node.Results) != 1 || !isF32(node.Results[0]) || n.prepared(node.Results[0]) {
		return nil
	}
	result := node.Results[0]
	if o, ok := node.Op.(op.Product); ok {
		factors := min(o.Factors(), len(node.Args))
		if n.wanted[result] {
			return n.apply(b, node, node.Op, factors, n.to)
		}
		return n.apply(b, node, o.Widened(), factors, ir.F32)
	}
	if moved := movedOperands(node); moved > 0 {
		all := !slices.ContainsFunc(node.Args[:moved], func(a *ir.Value) bool { return n.made(a) == nil })
		if n.wanted[result] || all {
			return n.apply(b, node, node.Op, moved, n.to)
		}
		return nil
	}
	if _, ok := node.Op.(op.Elementwise); ok && n.wanted[result] && n.made(result) == nil {
		y := b.Node(op.Cast{To: n.to}, b.Node(node.Op, node.Args...))
		return []*ir.Value{b.Node(op.Cast{To: ir.F32}, y)}
	}
	return nil
}

// apply appends a node that applies o to the operands of `node`. It first converts the first `operands` of them to 16
// bits. result is the element type of o's result, which apply then converts to f32. apply returns nil if no kernel
// computes o on such operands.
func (n *narrower) apply(b *ir.Builder, node *ir.Node, o ir.Op, operands int, result ir.DType) []*ir.Value {
	if !n.computes(node, o, operands, result) {
		return nil
	}
	args := slices.Clone(node.Args)
	for i, a := range args[:operands] {
		if a != nil {
			args[i] = n.convert(b, a)
		}
	}
	return []*ir.Value{op.ConvertTo(b, b.Node(o, args...), ir.F32)}
}

// applyWhole converts the factors of a node to 16 bits, because kernels compute o, the operator of the node, only on
// these. The operator's own results are f32, or narrow if the first result is wanted in 16 bits. applyWhole returns
// them in the types of the node's results.
func (n *narrower) applyWhole(b *ir.Builder, node *ir.Node, o op.Product) []*ir.Value {
	by := ir.Op(o)
	if !n.wanted[node.Results[0]] {
		by = o.Widened()
	}
	args := slices.Clone(node.Args)
	for i, a := range args[:o.Factors()] {
		if isF32(a) {
			args[i] = n.convert(b, a)
		}
	}
	out := slices.Clone(b.Nodes(by, args...))
	for i, r := range out {
		out[i] = op.ConvertTo(b, r, node.Results[i].Type.DType)
	}
	return out
}

// computes reports whether a kernel computes o as [narrower.apply] applies it. It is true for views, which need no
// kernel.
func (n *narrower) computes(node *ir.Node, o ir.Op, operands int, result ir.DType) bool {
	if _, ok := node.Op.(ir.Viewer); ok {
		return true
	}
	like := &ir.Node{Op: o, Args: slices.Clone(node.Args), Results: []*ir.Value{{Type: node.Results[0].Type.With(result)}}}
	for i, a := range like.Args[:operands] {
		if a != nil {
			like.Args[i] = &ir.Value{Type: a.Type.With(n.to)}
		}
	}
	_, err := launch.Of(like, launch.Options{})
	return err == nil
}

// made returns x if v is the conversion of x from the narrow type n.to to f32, and else nil.
func (n *narrower) made(v *ir.Value) *ir.Value {
	if v == nil || v.Def == nil || !isF32(v) {
		return nil
	}
	if _, ok := v.Def.Op.(op.Cast); ok && v.Def.Args[0].Type.DType == n.to {
		return v.Def.Args[0]
	}
	return nil
}

func (n *narrower) convert(b *ir.Builder, v *ir.Value) *ir.Value {
	if made := n.made(v); made != nil {
		return made
	}
	if n.narrow[v] == nil {
		n.narrow[v] = op.ConvertTo(b, v, n.to)
	}
	return n.narrow[v]
}

func (n *narrower) want(f *ir.Func) {
	n.wanted = map[*ir.Value]bool{}
	for _, node := range slices.Backward(f.Nodes) {
		operands := 0
		if o, ok := node.Op.(op.Product); ok && !n.prepared(node.Results[0]) {
			operands = min(o.Factors(), len(node.Args))
		} else if len(node.Results) == 1 && n.wanted[node.Results[0]] {
			operands = movedOperands(node)
		}
		for _, a := range node.Args[:operands] {
			if a != nil && isF32(a) {
				n.wanted[a] = true
			}
		}
	}
}

// movedOperands returns the number of operands of n whose elements become elements of the result unchanged. They are
// the first operands of n. movedOperands returns 0 if n computes new elements.
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

func isF32(v *ir.Value) bool { return v.Type.IsTensor() && v.Type.DType == ir.F32 }
