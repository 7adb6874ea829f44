// Package pass rewrites modules: canonical passes simplify a model for any
// target, lowering passes turn it into what the kernels of a target compute and
// separate the work that depends on weights only. It knows the operators; it
// does not know where values live in memory (package plan), nor how a program
// is written (package gen).
//
// One file holds one pass, named after it; this file is the only place that
// lists and orders them.
package pass

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/cost"
	"github.com/burngen/burngen/ir/plan"
)

// Pass is a rewrite of a module that keeps what its functions compute.
type Pass struct {
	// Name is a verb and an object, also of the pass's file and of its goldens.
	Name string
	// Run rewrites the module and reports whether it changed anything.
	Run func(*Context, *ir.Module) (changed bool, err error)
	// Required passes are needed to generate code; the others make it better.
	Required bool
}

// Context is what passes share.
type Context struct {
	// Strict forbids what may round floats more than the model's operators do, and makes
	// long sums ones of parts.
	Strict bool
	// WeightsDType is what large weights are stored as: F16 or BF16; F32, or nothing, leaves
	// them as they are.
	WeightsDType ir.DType
	// Prepared are the functions that load prepared weights; none stands for
	// [Forward].
	Prepared []string
	// Trained are the functions that train, and Remat says what of them is recomputed.
	// Plan plans a function of a lowered module, for that; without it nothing is.
	Trained []string
	Remat   Remat
	Plan    func(m *ir.Module, name string) (*plan.Plan, error)
	// Recomputed says what recomputing did to them.
	Recomputed []Recomputed
	// Costs says what kernels take, to choose between them; nil stands for [cost.Default].
	Costs *cost.Model
	// FoldBudget is the number of bytes that the tensors made by constant folding may take
	// together, 8 for each element; 0 stands for 256 MiB.
	FoldBudget int64
	// Stats counts what passes did, by the names below.
	Stats map[string]int

	folded map[string]*ir.Tensor // weights that folding made
	spent  int64                 // bytes of FoldBudget
	work   int64                 // operations of folding so far
	steps  int                   // passes run so far
}

// What [Context.Stats] counts.
const (
	FoldedConstants  = "constants folded"
	FoldedBatchNorms = "batch normalizations folded"
	FoldedAffines    = "products and sums folded into weights"
	FusedNorms       = "normalizations recognized"
	FusedAttentions  = "attentions recognized"
	FusedFormulas    = "activations recognized"
	FusedQuantized   = "operators fused into integer ones"
	FusedPointwise   = "elementwise operators fused"
	FusedBiases      = "biases fused"
	FusedResiduals   = "residuals fused"
	FusedActivations = "activations fused"
	FusedChains      = "elementwise operators fused into kernels"
	NarrowedWeights  = "weights rounded to fewer bits"
	SharedWeights    = "weights shared"
	OutlinedBlocks   = "repeated blocks outlined"
)

func (c *Context) costs() *cost.Model {
	if c.Costs == nil {
		c.Costs = cost.Default()
	}
	return c.Costs
}

// prepared returns the functions of m that load prepared weights.
func (c *Context) prepared(m *ir.Module) []*ir.Func {
	names := c.Prepared
	if len(names) == 0 {
		names = []string{Forward}
	}
	var list []*ir.Func
	for _, name := range names {
		if f := m.Func(name); f != nil {
			list = append(list, f)
		}
	}
	return list
}

func (c *Context) count(what string, n int) {
	if c.Stats == nil {
		c.Stats = map[string]int{}
	}
	if n > 0 {
		c.Stats[what] += n
	}
}

// Canonical are the passes that hold for every target. They are run until none
// of them changes anything.
var Canonical = []Pass{
	{Name: "fuse_qdq", Run: fuseQDQ},
	{Name: "outline_regions", Run: outlineRegions, Required: true},
	{Name: "fold_constants", Run: foldConstants},
	{Name: "simplify_identities", Run: simplifyIdentities},
	{Name: "merge_reshapes", Run: mergeReshapes},
	{Name: "sink_reshapes", Run: sinkReshapes},
	{Name: "fold_batch_norm", Run: foldBatchNorm},
	{Name: "fold_affine", Run: foldAffine},
	{Name: "fold_one_hot", Run: foldOneHot},
	{Name: "fuse_norm", Run: fuseNorm},
	{Name: "fuse_activation", Run: fuseActivation},
	{Name: "fuse_attention", Run: fuseAttention},
	{Name: "fuse_scale", Run: fuseScale},
	{Name: "eliminate_common", Run: eliminateCommon},
	{Name: "prune", Run: prune},
}

// Lowering are the passes for the CPU, run once.
var Lowering = []Pass{
	{Name: "decompose_ops", Run: decomposeOps, Required: true},
	{Name: "widen_floats", Run: widenFloats},
	{Name: "assign_layout", Run: assignLayout, Required: true},
	{Name: "lower_ops", Run: lowerOps, Required: true},
	{Name: "merge_copies", Run: mergeCopies},
	{Name: "narrow_weights", Run: narrowWeights},
	{Name: "divide_sums", Run: divideSums},
	{Name: "keep_subnormals", Run: keepSubnormals},
	{Name: "eliminate_common", Run: eliminateCommon},
	{Name: "prune", Run: prune},
	{Name: "fuse_epilogue", Run: fuseEpilogue},
	{Name: "unblock_convs", Run: unblockConvs},
	{Name: "form_pointwise", Run: formPointwise, Required: true},
	{Name: "prune", Run: prune},
	{Name: "fuse_pointwise", Run: fusePointwise},
	{Name: "spill_constants", Run: spillConstants, Required: true},
	{Name: "lift_weights", Run: liftWeights},
	{Name: "split_prepare", Run: splitPrepare, Required: true},
	{Name: "share_weights", Run: shareWeights},
	{Name: "prune", Run: prune},
	{Name: "recompute_values", Run: recomputeValues},
}

// Outlining are the passes that come after lowering where calls of functions can
// be generated.
var Outlining = []Pass{
	{Name: "outline_blocks", Run: outlineBlocks},
}

// Order lists pairs of passes of which the last run of one comes before the last
// run of the other, and why.
var Order = []struct{ Before, After, Why string }{
	{"fuse_qdq", "fold_constants", "folding hides which constants are quantised"},
	{"fold_constants", "simplify_identities", "what is neutral shows in constants"},
	{"simplify_identities", "eliminate_common", "one normal form makes more nodes equal"},
	{"fold_constants", "fold_batch_norm", "statistics have to be weights or constants"},
	{"simplify_identities", "fold_affine", "weights stand on the right of products and sums"},
	{"simplify_identities", "fuse_norm", "one normal form leaves fewer forms of a formula"},
	{"simplify_identities", "fuse_activation", "one normal form leaves fewer forms of a formula"},
	{"fold_affine", "fuse_attention", "a scale goes into the weights of a projection rather than into the attention"},
	{"sink_reshapes", "fold_affine", "what follows a product is seen beside it"},
	{"merge_reshapes", "fuse_attention", "keys are one transpose of something"},
	{"sink_reshapes", "fold_one_hot", "what is computed of rows is seen beside their choice"},
	{"fold_affine", "fuse_norm", "a product with a weight goes into the weights before it rather than into a scale"},
	{"fuse_activation", "fuse_epilogue", "a product takes one operator for its epilogue rather than a formula that reads it twice"},
	{"fuse_qdq", "fuse_scale", "products of quantised matrices are integer ones"},
	{"simplify_identities", "fuse_scale", "what is neutral would hide a scale"},
	{"fuse_norm", "form_pointwise", "what is in a loop is no formula any more"},
	{"outline_regions", "fold_constants", "the blocks of control flow are functions for all that follows"},
	{"spill_constants", "lift_weights", "constants in memory are weights"},
	{"lift_weights", "split_prepare", "weights are prepared in @forward only"},
	{"lower_ops", "fuse_epilogue", "kernels have epilogues"},
	{"eliminate_common", "fuse_epilogue", "what is computed twice seems to have fewer readers than it has"},
	{"fuse_epilogue", "unblock_convs", "what follows a convolution in blocks is part of it"},
	{"unblock_convs", "split_prepare", "weights are packed for the convolution that there is"},
	{"fuse_epilogue", "form_pointwise", "an epilogue is better than a loop of its own"},
	{"form_pointwise", "fuse_pointwise", "regions are what is merged"},
	{"eliminate_common", "recompute_values", "what is computed again would be computed once"},
	{"share_weights", "recompute_values", "it makes what is computed again be computed once"},
	{"fuse_pointwise", "recompute_values", "what loops keep to themselves is not in memory"},
	{"recompute_values", "outline_blocks", "calls hide what values are made of"},
	{"eliminate_common", "prune", "nodes that were replaced have no users"},
	{"decompose_ops", "widen_floats", "operators of narrow floats are made of wide ones and casts"},
	{"widen_floats", "assign_layout", "only f32 has a blocked layout"},
	{"decompose_ops", "assign_layout", "what is made of convolutions shows them"},
	{"assign_layout", "lower_ops", "a convolution has a kernel only in the blocked layout"},
	{"lower_ops", "merge_copies", "what moves elements is lowered to copies"},
	{"lower_ops", "narrow_weights", "products show what their kernel reads"},
	{"lower_ops", "divide_sums", "sums show the kernel that adds them up"},
	{"lower_ops", "keep_subnormals", "operators are replaced by softmaxes"},
	{"narrow_weights", "form_pointwise", "casts are elementwise"},
	{"narrow_weights", "split_prepare", "weights are rounded once"},
	{"lower_ops", "form_pointwise", "operators are lowered to elementwise ones"},
	{"form_pointwise", "spill_constants", "constants inside regions need no memory"},
	{"spill_constants", "split_prepare", "constants in memory are weights, some of them only for other weights"},
	{"split_prepare", "share_weights", "prepared weights are compared by how they are made"},
	{"split_prepare", "outline_blocks", "blocks differ in prepared weights only"},
	{"split_prepare", "prune", "weights that nothing reads are dropped"},
}

// Options says how [Run] goes about its passes.
type Options struct {
	// Rounds is how often the passes are repeated, at most, while one of them
	// changes something; 0 stands for once.
	Rounds int
	// Outline makes [All] run the passes of Outlining.
	Outline bool
	// Dump, when set, is called after each pass with its number, counted from 1
	// over all runs of a context. In repeated rounds it is called only after
	// passes that changed something.
	Dump func(index int, name string, m *ir.Module)
	// Progress, when set, is called with the name of each pass before it runs.
	Progress func(name string)
	// Stop is the number of the last pass that is run, unless it is 0: from
	// there on only required ones are.
	Stop int
}

// CanonicalRounds bounds the rounds of the canonical passes. A module that still
// changes then is as right as it was, only not as small as it could be.
const CanonicalRounds = 32

// All runs the canonical and the lowering passes, and the outlining ones if
// asked for, on a module that is verified first.
func All(ctx *Context, m *ir.Module, opts Options) error {
	if err := ir.Verify(m); err != nil {
		return err
	}
	opts.Rounds = CanonicalRounds
	if err := Run(ctx, m, Canonical, opts); err != nil {
		return err
	}
	opts.Rounds = 0
	if err := Run(ctx, m, Lowering, opts); err != nil || !opts.Outline {
		return err
	}
	return Run(ctx, m, Outlining, opts)
}

// Run runs passes in order and verifies the module after each. Its error names
// the pass that failed or that left the module broken.
func Run(ctx *Context, m *ir.Module, passes []Pass, opts Options) error {
	for round := 0; ; round++ {
		changed := false
		for _, p := range passes {
			if opts.Stop > 0 && ctx.steps >= opts.Stop && !p.Required {
				continue
			}
			if opts.Progress != nil {
				opts.Progress(p.Name)
			}
			c, err := p.Run(ctx, m)
			if err != nil {
				return fmt.Errorf("pass %s: %w", p.Name, err)
			}
			if !c && round > 0 {
				continue
			}
			if err := ir.Verify(m); err != nil {
				return fmt.Errorf("pass %s left a broken module: %w", p.Name, err)
			}
			changed = changed || c
			ctx.steps++
			if opts.Dump != nil {
				opts.Dump(ctx.steps, p.Name, m)
			}
		}
		if !changed || round+1 >= opts.Rounds {
			return nil
		}
	}
}

// Find returns the pass of a name.
func Find(name string) (Pass, bool) {
	for _, list := range [][]Pass{Canonical, Lowering, Outlining} {
		for _, p := range list {
			if p.Name == name {
				return p, true
			}
		}
	}
	return Pass{}, false
}

// rewriteAll rewrites every function of m.
func rewriteAll(m *ir.Module, visit func(*ir.Builder, *ir.Node) []*ir.Value) (changed bool, err error) {
	for _, f := range m.Funcs {
		c, err := f.Rewrite(visit)
		if err != nil {
			return changed, fmt.Errorf("@%s: %w", f.Name, err)
		}
		changed = changed || c
	}
	return changed, nil
}

// weightName returns a name that no weight of m has: hint, or hint with a number.
func weightName(m *ir.Module, hint string) string {
	name := hint
	for i := 2; m.Weight(name) != nil; i++ {
		name = fmt.Sprintf("%s.%d", hint, i)
	}
	return name
}
