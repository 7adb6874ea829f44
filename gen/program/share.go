package program

import (
	"slices"

	"github.com/burngen/burngen/ir"
)

// The work of a node is divided into shares, see [Shares]. The number of shares is max(flops/SharedFlops,
// elems/SharedElems): flops are the floating-point operations of the node, and elems the elements of its operands
// and results.
const (
	SharedFlops = 20_000
	SharedElems = 8_000
)

// Launcher is a step that another device computes, such as the launch of a kernel on a GPU. It is never split between
// threads of the host.
type Launcher interface {
	Step
	// OnDevice does nothing. It tells launches from other steps.
	OnDevice()
}

// MayShare reports whether a step of a function or of its callees may be worth splitting between the
// threads of the host. This includes steps whose extents are known only at run time.
func MayShare(f *Func) bool {
	return slices.ContainsFunc(append(f.Callees(), f), func(f *Func) bool {
		var last *ir.Node // a node may have thousands of steps
		return slices.ContainsFunc(f.Steps, func(s Step) bool {
			n := s.At()
			if _, away := s.(Launcher); away || n == last {
				return false
			}
			last = n
			return n != nil && isLarge(n)
		})
	})
}

func isLarge(n *ir.Node) bool {
	shares, known := Shares(n)
	return !known || shares >= 1
}

// Shares returns the number of parts into which the work of a node can be split. Each part takes about 5 µs with the
// slowest instruction set; see [rt.Parts]. known is false if the work depends on extents that are known only at run
// time, or if there are operands that are not tensors.
func Shares(n *ir.Node) (shares float64, known bool) {
	for _, t := range append(n.ArgTypes(), n.ResultTypes()...) {
		if !t.IsZero() && !t.IsTensor() {
			return 0, false
		}
	}
	w := n.Work()
	elems, small := w.Elems.Int64()
	flops, few := w.Flops.Int64()
	return max(float64(flops)/SharedFlops, float64(elems)/SharedElems), small && few
}
