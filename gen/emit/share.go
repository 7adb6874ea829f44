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
	elems := ir.Dim{}
	for _, t := range append(n.ArgTypes(), n.ResultTypes()...) {
		switch {
		case t.IsZero(): // absent
			continue
		case !t.IsTensor():
			return true
		}
		elems = elems.Add(t.Elems())
	}
	flops := ir.Dim{}
	if c, ok := n.Op.(ir.Coster); ok {
		flops = c.Flops(n.ArgTypes(), n.ResultTypes())
	}
	e, small := elems.Int64()
	o, few := flops.Int64()
	return !small || !few || e >= sharedElems || o >= sharedFlops
}
