package cpu

import (
	"github.com/burngen/burngen/gen/arena"
	"github.com/burngen/burngen/gen/target/cpu/cost"
	"github.com/burngen/burngen/gen/target/cpu/layout"
	"github.com/burngen/burngen/ir/pass"
)

// Lowering implements [pass.Target]. It returns the passes for the CPU.
func (t Target) Lowering() pass.Pipeline {
	costs := t.Costs
	if costs == nil {
		costs = cost.Default()
	}
	return pass.Pipeline{
		Passes: []pass.Pass{
			pass.DecomposeOps,
			pass.WidenFloats,
			layout.Assign(costs),
			pass.LowerOps,
			pass.MergeCopies,
			pass.NarrowWeights,
			pass.DivideSums,
			pass.KeepSubnormals,
			pass.EliminateCommon,
			pass.Prune,
			pass.FuseEpilogue,
			layout.Unblock(costs),
			pass.FormPointwise,
			pass.Prune,
			pass.FusePointwise,
			pass.SpillConstants,
			pass.LiftWeights,
			pass.SplitPrepare,
			pass.ShareWeights,
			pass.Prune,
			arena.RecomputeValues(t),
		},
		Outlining: arena.Outlining(t),
		Order: []pass.Order{
			{Before: "decompose_ops", After: "assign_layout", Why: "what is made of convolutions shows them"},
			{Before: "widen_floats", After: "assign_layout", Why: "only f32 has a blocked layout"},
			{Before: "assign_layout", After: "lower_ops", Why: "a convolution has a kernel only in the blocked layout"},
			{Before: "fuse_epilogue", After: "unblock_convs", Why: "what follows a convolution in blocks is part of it"},
			{Before: "unblock_convs", After: "split_prepare", Why: "weights are packed for the convolution that there is"},
		},
	}
}
