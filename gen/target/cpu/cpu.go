// Package cpu is the target for the kernels of package runtime/cpu. It has passes that lower nodes
// to kernels, and steps that call kernels. It prints these steps, and runs them without generating
// code. It does not know which operator calls which kernel (package call), nor where values are in
// memory.
package cpu

import (
	"slices"

	"github.com/burngen/burngen/gen/target/cpu/call"
	"github.com/burngen/burngen/gen/target/cpu/cost"
	"github.com/burngen/burngen/gen/target/cpu/storage"
	"github.com/burngen/burngen/ir"
)

// Target is the target of CPUs, whose code calls the kernels of runtime/cpu. Its zero value is ready
// to use.
type Target struct {
	// Costs estimates the time of kernels, to choose between algorithms. Nil means [cost.Default].
	Costs *cost.Model
}

// Name returns "cpu".
func (Target) Name() string { return "cpu" }

// CanRun returns true: the CPU can always run steps.
func (Target) CanRun() bool { return true }

// Computes implements [pass.Target]. It returns nil if a kernel of runtime/cpu computes a node
// without further lowering, or else an error with the reason.
func (Target) Computes(n *ir.Node) error { return call.Computes(n) }

// Reads implements [pass.Target]. It returns the operands that the kernel of a node reads from
// memory; see [call.Reads].
func (Target) Reads(n *ir.Node) []*ir.Value { return call.Reads(n) }

// Keeps implements [pass.Target]. It reports whether n may be computed as a whole on channel-blocked
// operands. Such a node is not decomposed before the pass that blocks its operands.
func (Target) Keeps(n *ir.Node) bool {
	return storage.HasRelayout(n.Op) && slices.ContainsFunc(n.Args, func(v *ir.Value) bool {
		if v == nil {
			return false
		}
		_, ok := storage.Blocked(v.Type)
		return ok
	})
}

// Lower implements [pass.Target]. It replaces matrix products, convolutions of integers and
// recurrent layers by operators on packed operands. It returns nil if n stays unchanged; see
// [storage.Lower].
func (Target) Lower(b *ir.Builder, n *ir.Node) []*ir.Value { return storage.Lower(b, n) }
