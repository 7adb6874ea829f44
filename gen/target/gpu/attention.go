package gpu

import (
	"slices"

	"github.com/burngen/burngen/gen/target/gpu/launch"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// lowerAttention replaces an attention in training, or the gradient of such an attention, by the operator that
// kernels compute in the target's precision. It returns nil for other nodes, and if there is no such kernel.
func (t Target) lowerAttention(b *ir.Builder, n *ir.Node) []*ir.Value {
	to, args, ok := t.attend(n)
	if !ok {
		return nil
	}
	swapped := 1 // results with rows before heads
	if _, ok := to.(op.AttendGradient); ok {
		swapped = 3
	}
	out := slices.Clone(b.Nodes(to, args...))
	for i := range swapped {
		out[i] = op.RowsAndHeads(b, out[i])
	}
	return out
}

// attend returns the operator, and its operands, that computes n, the training form of an attention or its gradient, in
// the target's precision. ok is false for other nodes, and if there is no such kernel.
func (t Target) attend(n *ir.Node) (to ir.Op, args []*ir.Value, ok bool) {
	if t.Precision.stored() == ir.Invalid {
		return nil, nil, false
	}
	switch o := n.Op.(type) {
	case op.AttentionTraining:
		to, args, ok = o.Attend(n)
	case op.AttentionGradient:
		to, args, ok = o.Attend(n)
	}
	if !ok {
		return nil, nil, false
	}
	like := &ir.Node{Op: to, Args: args}
	for _, r := range n.Results {
		like.Results = append(like.Results, &ir.Value{Type: r.Type})
	}
	return to, args, t.computesNarrow(like)
}

// TrainsAttention reports whether kernels compute the training form and the gradient of n, an [op.Attention]. Only the
// types of n's operands and of its result matter.
func (t Target) TrainsAttention(n *ir.Node) bool {
	o := n.Op.(op.Attention)
	types, err := op.AttentionTraining(o).Infer(n.ArgTypes())
	if err != nil {
		return false
	}
	y, sums := &ir.Value{Type: types[0]}, &ir.Value{Type: types[1]}
	trained := &ir.Node{Op: op.AttentionTraining(o), Args: n.Args, Results: []*ir.Value{y, sums}}
	args := []*ir.Value{n.Arg(0), n.Arg(1), n.Arg(2), y, y, sums, n.Arg(3), n.Arg(4), n.Arg(5)}
	gradient := &ir.Node{Op: op.AttentionGradient(o), Args: args, Results: n.Args[:3]}
	_, _, computesTrained := t.attend(trained)
	_, _, computesGradient := t.attend(gradient)
	return computesTrained && computesGradient
}

// computesNarrow reports whether a kernel computes n, an [op.Whole] product, on operands in 16 bits. The pass
// set_precision stores these operands in 16 bits.
func (t Target) computesNarrow(n *ir.Node) bool {
	o, ok := n.Op.(op.Product)
	if _, whole := n.Op.(op.Whole); !ok || !whole || t.Precision.stored() == ir.Invalid {
		return false
	}
	like := &ir.Node{Op: o, Args: slices.Clone(n.Args), Results: n.Results}
	for i, a := range like.Args[:o.Factors()] {
		if !isF32(a) {
			return false
		}
		like.Args[i] = &ir.Value{Type: a.Type.With(t.Precision.stored())}
	}
	_, err := launch.Of(like, t.options())
	return err == nil
}
