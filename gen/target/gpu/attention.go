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
	if t.Precision.stored() == ir.Invalid {
		return nil
	}
	var to ir.Op
	var args []*ir.Value
	var ok bool
	swapped := 1 // results with rows before heads
	switch o := n.Op.(type) {
	case op.AttentionTraining:
		to, args, ok = o.Attend(n)
	case op.AttentionGradient:
		to, args, ok = o.Attend(n)
		swapped = 3
	}
	if !ok {
		return nil
	}
	like := &ir.Node{Op: to, Args: args}
	for _, r := range n.Results {
		like.Results = append(like.Results, &ir.Value{Type: r.Type})
	}
	if !t.computesNarrow(like) {
		return nil
	}
	out := slices.Clone(b.Nodes(to, args...))
	for i := range swapped {
		out[i] = op.RowsAndHeads(b, out[i])
	}
	return out
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
