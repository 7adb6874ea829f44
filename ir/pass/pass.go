// Package pass rewrites modules. Canonical passes simplify a model for any target. Lowering passes
// replace operators by operators that the kernels of a target compute. They also separate the work
// that depends only on weights. A target arranges these passes and its own passes in a [Pipeline].
// The package knows the operators. It does not know where values live in memory (package plan), how
// a program is written (package gen), or any target.
//
// Each file holds one pass and is named after it. Only this file lists and orders them. The rewrites
// [Recompute] and [OutlinePart] are not passes: package gen/arena tries them.
//
// # Words
//
// A reader of a value is a node that has the value as an operand. A value is fixed if it depends on
// weights and constants only. The function @prepare computes fixed values once; its results are the
// prepared weights, which other functions load. A function of this package appends a value if it
// adds nodes that compute the value to the block of its [ir.Builder], and returns the value. A splat
// is a tensor that stores a single element, which stands for all of its elements.
package pass

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/burngen/burngen/ir"
)

// Pass is a rewrite of a module that preserves the results of its functions.
type Pass struct {
	// Name is a verb and an object. The pass's file and goldens are named after it.
	Name string
	// Run rewrites the module and reports whether it changed anything.
	Run func(*Context, *ir.Module) (changed bool, err error)
	// Required says that code cannot be generated without the pass. A pass that is not required is
	// an optimisation.
	Required bool
}

// Context holds the options, the statistics and the state that passes share.
type Context struct {
	// Strict forbids rewrites that may round floats more than the model's operators do, and divides
	// long sums into parts.
	Strict bool
	// WeightsDType is the element type in which large weights are stored: F16 or BF16. F32 and the
	// zero value do not change the weights.
	WeightsDType ir.DType
	// Prepared names the functions that load prepared weights; if it is empty, only [Forward] does.
	Prepared []string
	// Trained are the names of the functions that train. Remat selects the values that these
	// functions recompute.
	Trained []string
	Remat   Remat
	// Room is the size in bytes that the arena of a function may have. 0 means that it may have any.
	Room int64
	// Gradient is the prefix of the names of results that are gradients, in the functions of
	// Trained. It is "" if there are no gradients. Watched says that the results of each node of
	// these functions are checked for NaN. Their nodes are then not outlined.
	Gradient string
	Watched  bool
	// Recomputed has an element for each function of Trained, unless nothing may be recomputed.
	Recomputed []Recomputed
	// Target describes what the target computes. Lowering passes need it.
	Target Target
	// FoldBudget is the total size in bytes of the tensors that constant folding may create, at 8
	// bytes per element. 0 means 256 MiB.
	FoldBudget int64
	// Stats counts what passes have done, by keys such as [FoldedConstants].
	Stats map[string]int

	folded map[string]*ir.Tensor // weights created by folding
	spent  int64                 // bytes used of FoldBudget
	work   int64                 // operations of folding so far
	steps  int                   // passes run so far
}

// Target describes what a target computes, and how it lowers the other nodes.
type Target interface {
	// Computes returns nil if a kernel computes a node without further lowering, or else an error
	// with the reason.
	Computes(n *ir.Node) error
	// Reads returns the operands that the kernel of a node reads from memory. The kernel takes the
	// other operands by value. A node that no kernel computes reads all its operands.
	Reads(n *ir.Node) []*ir.Value
	// Keeps reports whether a pass of the target may compute a node as a whole. Such a node is not
	// decomposed before that pass.
	Keeps(n *ir.Node) bool
	// Lower builds replacements of a node's results from operators of the target. It returns nil if
	// the node stays, or is lowered by its operator, an [ir.Lowerer].
	Lower(b *ir.Builder, n *ir.Node) []*ir.Value
	// Lowering returns the passes that lower a module for the target.
	Lowering() Pipeline
}

// Pipeline is a list of passes that are run once, in this order.
type Pipeline struct {
	Passes []Pass
	// Outlining lists the passes that follow if function calls can be generated.
	Outlining []Pass
	// Order lists pairs of passes whose order matters, in addition to [Orders].
	Order []Order
}

// Order is a pair of passes whose order matters. The last run of the pass Before must come before
// the last run of the pass After. The field Why has the reason.
type Order struct{ Before, After, Why string }

// Keys of [Context.Stats].
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

func (c *Context) isGradient(result string) bool {
	return c.Gradient != "" && strings.HasPrefix(result, c.Gradient)
}

// Prepares reports whether f, a function of m, loads prepared weights.
func (c *Context) Prepares(m *ir.Module, f *ir.Func) bool { return slices.Contains(c.prepared(m), f) }

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

// Count adds n to the number that Stats has for `what`.
func (c *Context) Count(what string, n int) {
	if c.Stats == nil {
		c.Stats = map[string]int{}
	}
	if n > 0 {
		c.Stats[what] += n
	}
}

// Canonical lists the passes for all targets. They are run until a round changes nothing, or up to
// a maximum number of rounds; see [CanonicalRounds].
var Canonical = []Pass{
	{Name: "fuse_qdq", Run: fuseQDQ},
	OutlineRegions,
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
	EliminateCommon,
	Prune,
}

// The passes from which targets make their [Pipeline].
var (
	OutlineRegions  = Pass{Name: "outline_regions", Run: outlineRegions, Required: true}
	DecomposeOps    = Pass{Name: "decompose_ops", Run: decomposeOps, Required: true}
	WidenFloats     = Pass{Name: "widen_floats", Run: widenFloats}
	LowerOps        = Pass{Name: "lower_ops", Run: lowerOps, Required: true}
	MergeCopies     = Pass{Name: "merge_copies", Run: mergeCopies}
	NarrowWeights   = Pass{Name: "narrow_weights", Run: narrowWeights}
	DivideSums      = Pass{Name: "divide_sums", Run: divideSums}
	KeepSubnormals  = Pass{Name: "keep_subnormals", Run: keepSubnormals}
	EliminateCommon = Pass{Name: "eliminate_common", Run: eliminateCommon}
	Prune           = Pass{Name: "prune", Run: prune}
	FuseEpilogue    = Pass{Name: "fuse_epilogue", Run: fuseEpilogue}
	FormPointwise   = Pass{Name: "form_pointwise", Run: formPointwise, Required: true}
	FusePointwise   = Pass{Name: "fuse_pointwise", Run: fusePointwise}
	SpillConstants  = Pass{Name: "spill_constants", Run: spillConstants, Required: true}
	LiftWeights     = Pass{Name: "lift_weights", Run: liftWeights}
	SplitPrepare    = Pass{Name: "split_prepare", Run: splitPrepare, Required: true}
	ShareWeights    = Pass{Name: "share_weights", Run: shareWeights}
	OutlineBlocks   = Pass{Name: "outline_blocks", Run: outlineBlocks}
	MergeFunctions  = Pass{Name: "merge_functions", Run: mergeFunctions}
)

// Naming lists the passes that name the values. They run after all other passes.
var Naming = []Pass{
	{Name: "name_values", Run: nameValues},
}

// Orders lists the pairs of passes whose order matters. A pair applies to every target that has
// both passes.
var Orders = []Order{
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
	{"fuse_norm", "form_pointwise", "what is in a loop is not recognised as a formula"},
	{"outline_regions", "fold_constants", "the blocks of control flow are functions for all that follows"},
	{"spill_constants", "lift_weights", "constants in memory are weights"},
	{"lift_weights", "split_prepare", "weights are prepared in @forward only"},
	{"lower_ops", "fuse_epilogue", "kernels have epilogues"},
	{"eliminate_common", "fuse_epilogue", "what is computed twice seems to have fewer readers than it has"},
	{"fuse_epilogue", "form_pointwise", "an epilogue is better than a loop of its own"},
	{"form_pointwise", "fuse_pointwise", "regions are what is merged"},
	{"eliminate_common", "recompute_values", "what is computed again would be computed once"},
	{"share_weights", "recompute_values", "it makes what is computed again be computed once"},
	{"fuse_pointwise", "recompute_values", "what loops keep to themselves is not in memory"},
	{"recompute_values", "outline_parts", "calls hide what values are made of"},
	{"outline_parts", "outline_blocks", "a layer that several functions have is outlined once"},
	{"outline_blocks", "merge_functions", "blocks are outlined in each function"},
	{"eliminate_common", "prune", "nodes that were replaced have no users"},
	{"decompose_ops", "widen_floats", "operators of narrow floats are made of wide ones and casts"},
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
	{"merge_functions", "name_values", "what blocks are given names their parameters"},
	{"split_prepare", "prune", "weights that nothing reads are dropped"},
}

// Options configures [Run].
type Options struct {
	// Rounds is the maximum number of times the passes are run while they change something. 0 means
	// once.
	Rounds int
	// Outline makes [All] run the outlining passes of the pipeline.
	Outline bool
	// Dump, if not nil, is called after each pass with the pass's number, which counts from 1 over
	// all runs of a context. In repeated rounds it is called only after passes that changed
	// something.
	Dump func(index int, name string, m *ir.Module)
	// Progress, if not nil, is called with the name of each pass before it runs.
	Progress func(name string)
	// Stop, if not 0, is the number of the last pass that is run. Later passes are run only if they
	// are required.
	Stop int
}

// CanonicalRounds is the maximum number of times that the canonical passes are run; see [Options].
// A module that still changes after the last round is correct, but may not be as small as possible.
const CanonicalRounds = 32

// All runs all passes on m. It verifies m first. Then it runs the canonical passes, the lowering
// passes, the outlining passes if opts asks for them, and the naming passes. It returns the errors
// of [Run].
func All(ctx *Context, m *ir.Module, opts Options) error {
	if ctx.Target == nil {
		return errors.New("there is no target to lower to")
	}
	if err := ir.Verify(m); err != nil {
		return err
	}
	opts.Rounds = CanonicalRounds
	if err := Run(ctx, m, Canonical, opts); err != nil {
		return err
	}
	opts.Rounds = 0
	lowering := ctx.Target.Lowering()
	last := lowering.Passes
	if opts.Outline {
		last = slices.Concat(last, lowering.Outlining)
	}
	return Run(ctx, m, slices.Concat(last, Naming), opts)
}

// Run runs passes in order, and verifies the module after each pass. It repeats the list while the
// list changes the module, up to opts.Rounds times. From the second round on, it verifies the
// module only after a pass that changed it. If opts.Stop is not 0, it runs only required passes
// after the first opts.Stop passes. It returns an error that names the pass that failed, or the
// pass that made the module invalid.
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

// Find returns the pass called `name` among the passes of target t. ok is false if there is no such
// pass.
func Find(t Target, name string) (Pass, bool) {
	lowering := t.Lowering()
	for _, list := range [][]Pass{Canonical, lowering.Passes, lowering.Outlining, Naming} {
		for _, p := range list {
			if p.Name == name {
				return p, true
			}
		}
	}
	return Pass{}, false
}

// rewriteAll calls [ir.Func.Rewrite] with `visit` for each function of m. It reports whether a node
// was replaced.
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

type weights struct {
	module *ir.Module
	byName map[string]*ir.Weight // nil until one is added
}

// add adds a weight and returns the operator that loads it. The weight is called hint or, if that
// is taken, hint.2, hint.3 and so on.
func (w *weights) add(hint string, t ir.Type, data []byte) ir.Load {
	if w.byName == nil {
		w.byName = w.module.ByName()
	}
	name := hint
	for i := 2; w.byName[name] != nil; i++ {
		name = fmt.Sprintf("%s.%d", hint, i)
	}
	made := &ir.Weight{Name: name, Type: t, Data: data}
	w.module.Weights, w.byName[name] = append(w.module.Weights, made), made
	return ir.Load{Name: name, Type: t}
}
