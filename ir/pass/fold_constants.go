package pass

import (
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/runtime/rt"
)

const (
	defaultFoldBudget = 256 << 20
	// maxFoldWork is the maximum number of operations for evaluating one node. A node that needs more is not folded:
	// kernels compute it, once before all runs or in each run.
	maxFoldWork = 1 << 24
	// maxFoldWorks is the maximum number of operations for evaluating nodes in a whole compilation.
	maxFoldWorks = 1 << 25
	// maxTextBytes is the size in bytes of the largest folded tensor that becomes a constant in the text form.
	// Larger tensors become weights.
	maxTextBytes = 1024
)

// foldConstants evaluates nodes whose operands are all constants, within a budget of memory and work. It does not
// evaluate nodes that depend on weights, because weights can be replaced. A splat is a constant that is stored as one
// repeated element. If all operands are splats, the result is a splat too if the operator works element by element,
// moves elements, or fills a tensor. Any other result larger than maxTextBytes becomes a weight.
func foldConstants(ctx *Context, m *ir.Module) (changed bool, err error) {
	if ctx.folded == nil {
		ctx.folded = map[string]*ir.Tensor{}
	}
	own := &weights{module: m}
	return rewriteAll(m, func(b *ir.Builder, n *ir.Node) []*ir.Value {
		out := ctx.evaluate(n)
		if out == nil {
			return nil
		}
		ctx.Count(FoldedConstants, 1)
		values := make([]*ir.Value, len(out))
		for i, t := range out {
			values[i] = ctx.constant(b, own, n.Results[i].Name, t)
		}
		return values
	})
}

// evaluate returns the results of n. It returns nil if an operand is not a constant, if the operator cannot be
// evaluated, or if the budget of memory or of work is used up.
func (c *Context) evaluate(n *ir.Node) []*ir.Tensor {
	_, fill := n.Op.(op.Fill)
	_, invoke := n.Op.(ir.Invoke)
	if invoke || !isPure(n.Op) || len(n.Blocks) > 0 || len(n.Args) == 0 && !fill {
		return nil
	}
	args := make([]*ir.Tensor, len(n.Args))
	for i, a := range n.Args {
		if args[i] = c.known(a); a != nil && args[i] == nil {
			return nil
		}
	}
	for _, r := range n.Results {
		if !r.Type.IsTensor() || !r.Type.IsStatic() {
			return nil
		}
	}
	if t := splatResult(n, args); t != nil {
		return []*ir.Tensor{t}
	}
	if !staysSplat(n.Op, args) && !c.affords(n) {
		return nil
	}
	out, err := n.Op.Eval(args)
	if err != nil || len(out) != len(n.Results) {
		return nil // it fails when the model runs
	}
	for i, t := range out {
		if t == nil || !t.Type().Equal(n.Results[i].Type) {
			return nil
		}
	}
	return out
}

// affords checks whether evaluating n fits the budgets of memory and of work. If it does, affords deducts both and
// returns true. Otherwise it deducts nothing and returns false.
func (c *Context) affords(n *ir.Node) bool {
	budget := c.FoldBudget
	if budget == 0 {
		budget = defaultFoldBudget
	}
	work, elems := n.Work().Total(nil), elemsOf(n.ResultTypes()...)
	if _, pairs := n.Op.(op.Pairing); pairs {
		work = min(work, math.MaxInt32)
		work *= work
	}
	if work > min(maxFoldWork, maxFoldWorks-c.work) || elems > (budget-c.spent)/evalBytes {
		return false
	}
	c.work += work
	c.spent += elems * evalBytes
	return true
}

// evalBytes is the number of bytes that one element of an [ir.Tensor] takes.
const evalBytes = 8

// known returns the tensor of v if v is a constant, or a weight that folding has created. Otherwise it returns nil.
func (c *Context) known(v *ir.Value) *ir.Tensor {
	if t, ok := v.ConstValue(); ok {
		return t
	}
	if v == nil || v.Def == nil {
		return nil
	}
	if load, ok := v.Def.Op.(ir.Load); ok {
		return c.folded[load.Name]
	}
	return nil
}

// constant appends t and returns its value. If t is larger than maxTextBytes and not a splat (stored as one repeated
// element), constant adds it to `own` as a weight, and returns the value of this weight. The name of the weight
// derives from `name`, the name of the replaced value.
func (c *Context) constant(b *ir.Builder, own *weights, name string, t *ir.Tensor) *ir.Value {
	if t.IsSplat() || t.Len()*t.DType.Size() <= maxTextBytes {
		return b.Const(t)
	}
	load := own.add(rt.ConstPrefix+name, t.Type(), t.Bytes())
	c.folded[load.Name] = t
	return b.Node(load)
}

// elemsOf returns the total number of elements of values of the given types, whose shapes are static. It returns
// math.MaxInt64 if this number overflows.
func elemsOf(types ...ir.Type) int64 {
	total := dim.Dim{}
	for _, t := range types {
		total = total.Add(t.Elems())
	}
	if n, ok := total.Int64(); ok {
		return n
	}
	return math.MaxInt64
}

// splatResult evaluates an elementwise node whose operands are all splats, tensors that are stored as one repeated
// element. It computes with one element of each. It returns nil for any other node.
func splatResult(n *ir.Node, args []*ir.Tensor) *ir.Tensor {
	if _, ok := n.Op.(op.Elementwise); !ok {
		return nil
	}
	scalars := make([]*ir.Tensor, len(args))
	for i, t := range args {
		if t == nil || t.Stored() != 1 {
			return nil
		}
		scalars[i] = single(t)
	}
	out, err := n.Op.Eval(scalars)
	if err != nil || len(out) != 1 || out[0].Len() != 1 {
		return nil
	}
	shape, _ := n.Results[0].Type.Static()
	return repeated(out[0], shape)
}

func single(t *ir.Tensor) *ir.Tensor {
	s := ir.NewTensor(t.DType)
	s.Copy(0, t, 0)
	return s
}

func repeated(t *ir.Tensor, shape []int) *ir.Tensor {
	if ir.StaticTensor(t.DType, shape...).Elems().Equal(dim.Const(1)) {
		return single(t).Reshape(shape...)
	}
	return ir.Splat(t, shape...)
}

// staysSplat reports whether the result of an operator is a splat, a tensor that is stored as one repeated element.
// It is one if the operator fills a tensor, or moves the elements of args[0] and this operand is a splat.
func staysSplat(o ir.Op, args []*ir.Tensor) bool {
	if _, fill := o.(op.Fill); fill {
		return true
	}
	switch op.MovementOf(o) {
	case op.Rearranges, op.Repeats:
		return args[0].IsSplat()
	}
	return false
}
