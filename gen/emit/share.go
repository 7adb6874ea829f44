package emit

import (
	"slices"

	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/ir"
)

// A step is worth splitting at the slowest level if it has at least this many floating-point
// operations, or elements of operands and results; see [rt.Parts].
const (
	sharedFlops = 20_000
	sharedElems = 8_000
)

// mayShare reports whether a step of f or its callees may be worth splitting between threads. This
// includes steps whose extents are known only while the model runs.
func mayShare(f *program.Func) bool {
	return slices.ContainsFunc(append(f.Callees(), f), func(f *program.Func) bool {
		var last *ir.Node // a node may have thousands of steps
		return slices.ContainsFunc(f.Steps, func(s program.Step) bool {
			n := s.At()
			if n == last {
				return false
			}
			last = n
			return n != nil && isLarge(n)
		})
	})
}

func isLarge(n *ir.Node) bool {
	flops, elems, known := work(n)
	return !known || elems >= sharedElems || flops >= sharedFlops
}

// work returns the number of floating-point operations of a node and of elements of its operands
// and results. known is false if they depend on open extents or there are operands that are not
// tensors.
func work(n *ir.Node) (flops, elems int64, known bool) {
	for _, t := range append(n.ArgTypes(), n.ResultTypes()...) {
		if !t.IsZero() && !t.IsTensor() {
			return 0, 0, false
		}
	}
	w := n.Work()
	elems, small := w.Elems.Int64()
	flops, few := w.Flops.Int64()
	return flops, elems, small && few
}
