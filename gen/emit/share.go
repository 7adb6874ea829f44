package emit

import (
	"slices"

	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/ir"
)

// What a step has at least that is worth splitting at the slowest level, see
// [rt.Parts]: floating-point operations, and elements of operands and results.
const (
	sharedFlops = 20_000
	sharedElems = 8_000
)

// mayShare reports whether a step of a function, or of those it calls, may be worth
// splitting between threads. What depends on open extents may.
func mayShare(f *program.Func) bool {
	return slices.ContainsFunc(append(f.Callees(), f), func(f *program.Func) bool {
		return slices.ContainsFunc(f.Steps, func(s program.Step) bool {
			return s.At() != nil && isLarge(s.At())
		})
	})
}

func isLarge(n *ir.Node) bool {
	flops, elems, known := work(n)
	return !known || elems >= sharedElems || flops >= sharedFlops
}

// work returns the floating-point operations of a node, and the elements of its operands
// and results; known is false where they depend on open extents, or are not tensors.
func work(n *ir.Node) (flops, elems int64, known bool) {
	var all, ops ir.Dim
	for _, t := range append(n.ArgTypes(), n.ResultTypes()...) {
		switch {
		case t.IsZero(): // absent
			continue
		case !t.IsTensor():
			return 0, 0, false
		}
		all = all.Add(t.Elems())
	}
	if c, ok := n.Op.(ir.Coster); ok {
		ops = c.Flops(n.ArgTypes(), n.ResultTypes())
	}
	elems, small := all.Int64()
	flops, few := ops.Int64()
	return flops, elems, small && few
}
