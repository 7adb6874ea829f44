// Package gpu is what the targets of GPUs share: the passes that lower to their kernels, the steps
// that launch kernels, and how steps are printed and run. A node that no kernel computes is computed
// by the CPU's kernels, on the host. The package does not know any driver or machine language.
package gpu

import (
	"github.com/burngen/burngen/gen/arena"
	"github.com/burngen/burngen/gen/target/cpu"
	"github.com/burngen/burngen/gen/target/gpu/launch"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/pass"
)

// Target is a target of GPUs.
type Target struct {
	// Language is the form in which the driver takes kernels. Its Name is the name of the target.
	Language
	// Precision says how products are computed.
	Precision Precision
	// Device executes kernels when steps are run without generating code. It may be nil.
	Device Device
	host   cpu.Target
	// memo has the launches that passes built to plan memory. It is nil outside of passes.
	memo *launch.Memo
}

// Name returns the name of the target.
func (t Target) Name() string { return t.Language.Name }

// CanRun reports whether there is a device.
func (t Target) CanRun() bool { return t.Device != nil }

// Plain makes the host's kernels give the same bits on every machine until restore is called.
func (t Target) Plain() (restore func()) { return t.host.Plain() }

// Computes implements [pass.Target]. It returns nil if a kernel of the GPU or of the CPU computes a node without
// further lowering. Otherwise it returns the error of the CPU's target.
func (t Target) Computes(n *ir.Node) error {
	if _, err := t.memo.Of(n, t.options()); err == nil || t.computesNarrow(n) {
		return nil
	}
	return t.host.Computes(n)
}

// Reads implements [pass.Target]. It returns the operands that the launches of a node read. An operand is listed once
// for each launch that reads it. If the host computes the node, it returns what the CPU's target returns.
func (t Target) Reads(n *ir.Node) []*ir.Value {
	launches, err := t.memo.Of(n, t.options())
	if err != nil {
		return t.host.Reads(n)
	}
	var read []*ir.Value
	for _, l := range launches {
		for _, a := range l.Args {
			if a.Read != nil {
				read = append(read, a.Read)
			}
		}
	}
	return read
}

// Keeps implements [pass.Target]. It returns false: every node may be decomposed, because no pass of the GPU
// computes a composite node as a whole.
func (Target) Keeps(*ir.Node) bool { return false }

// Lower implements [pass.Target]. It lowers an attention in training and its gradient to the operators that kernels
// compute in 16 bits. If a kernel of the GPU reads indices or lengths of n that may be out of range, Lower puts a
// check before n. Lower returns nil for other nodes.
func (t Target) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	if out := t.lowerAttention(b, n); out != nil {
		return out
	}
	return checkIndices(b, n)
}

// Lowering implements [pass.Target]. It returns the passes for GPUs.
func (t Target) Lowering() pass.Pipeline {
	t.memo = &launch.Memo{}
	return pass.Pipeline{
		Passes: []pass.Pass{
			pass.DecomposeOps,
			pass.OutlineRegions,
			pass.WidenFloats,
			pass.LowerOps,
			pass.MergeCopies,
			pass.NarrowWeights,
			pass.EliminateCommon,
			pass.Prune,
			t.setPrecision(),
			t.channelsLast(),
			pass.EliminateCommon,
			pass.FormPointwise,
			pass.Prune,
			pass.FusePointwise,
			pass.SpillConstants,
			pass.LiftWeights,
			pass.SplitPrepare,
			pass.ShareWeights,
			pass.Prune,
			arena.RecomputeValues(t),
			FuseRows,
			FuseLaunches,
			pass.Prune,
		},
		Outlining: arena.Outlining(t),
		Order: []pass.Order{
			{Before: "decompose_ops", After: "outline_regions", Why: "the passes of recurrent layers in training become loops"},
			{Before: "lower_ops", After: "set_precision", Why: "lowering computes operators on 16 bits in f32 between casts"},
			{Before: "set_precision", After: "form_pointwise", Why: "casts are elementwise"},
			{Before: "set_precision", After: "split_prepare", Why: "weights are converted once"},
			{Before: "set_precision", After: "channels_last", Why: "how many channels a kernel loads depends on the precision"},
			{Before: "channels_last", After: "form_pointwise", Why: "it knows elementwise operators by their own names"},
			{Before: "channels_last", After: "split_prepare", Why: "weights are copied once"},
			{Before: "fuse_pointwise", After: "fuse_launches", Why: "a kernel computes one pointwise node on its result"},
			{Before: "recompute_values", After: "fuse_launches", Why: "a fused node would be recomputed as a whole"},
			{Before: "recompute_values", After: "fuse_rows", Why: "a fused node would be recomputed as a whole"},
			{Before: "fuse_pointwise", After: "fuse_rows", Why: "a kernel evaluates few large nodes"},
			{Before: "fuse_rows", After: "fuse_launches", Why: "kernels of rows read an operand once for several nodes"},
			{Before: "fuse_launches", After: "outline_parts", Why: "calls hide what reads a value"},
		},
	}
}
