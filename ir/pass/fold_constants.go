package pass

import (
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/runtime/rt"
)

const (
	defaultFoldBudget = 256 << 20
	// maxFoldWork bounds the work of evaluating one node, and maxFoldWorks that of all
	// nodes. The kernels do what is above it: they prepare it, or compute it in each run.
	maxFoldWork  = 1 << 24
	maxFoldWorks = 1 << 25
	// maxTextBytes is the size of the largest tensor that folding leaves in the
	// text form; larger ones become weights.
	maxTextBytes = 1024
)

// foldConstants evaluates nodes whose operands are all constants, within a budget of
// memory and of work. A weight is not a constant: it can be replaced. A tensor of equal
// elements stays one. A result above maxTextBytes becomes a weight of its own.
func foldConstants(ctx *Context, m *ir.Module) (bool, error) {
	if ctx.folded == nil {
		ctx.folded = map[string]*ir.Tensor{}
	}
	return rewriteAll(m, func(b *ir.Builder, n *ir.Node) []*ir.Value {
		out := ctx.evaluate(n)
		if out == nil {
			return nil
		}
		ctx.count(FoldedConstants, 1)
		values := make([]*ir.Value, len(out))
		for i, t := range out {
			values[i] = ctx.constant(b, m, n.Results[i].Name, t)
		}
		return values
	})
}

// evaluate returns the results of n where they can and may be computed now.
func (c *Context) evaluate(n *ir.Node) []*ir.Tensor {
	_, effect := n.Op.(ir.Effect)
	_, fill := n.Op.(op.Fill)
	_, invoke := n.Op.(ir.Invoke)
	_, custom := n.Op.(op.Custom)
	if effect || invoke || custom || isRandom(n.Op) || len(n.Blocks) > 0 || len(n.Args) == 0 && !fill {
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

// affords takes what evaluating n needs from the budgets of memory and work. It takes
// nothing and returns false if they do not have as much.
func (c *Context) affords(n *ir.Node) bool {
	budget := c.FoldBudget
	if budget == 0 {
		budget = defaultFoldBudget
	}
	work, elems := n.Work(nil), elemsOf(n.ResultTypes()...)
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

// evalBytes is what an element takes in an [ir.Tensor].
const evalBytes = 8

// known returns the tensor that v is: a constant, or a weight made of some.
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

// constant appends t, as a weight named after a value when it is large.
func (c *Context) constant(b *ir.Builder, m *ir.Module, name string, t *ir.Tensor) *ir.Value {
	if t.IsSplat() || t.Len()*t.DType.Size() <= maxTextBytes {
		return b.Const(t)
	}
	name = weightName(m, rt.ConstPrefix+name)
	m.Weights = append(m.Weights, &ir.Weight{Name: name, Type: t.Type(), Data: t.Bytes()})
	c.folded[name] = t
	return b.Node(ir.Load{Name: name, Type: t.Type()})
}

// elemsOf returns the number of elements of values of static types, or math.MaxInt64 if it
// does not fit.
func elemsOf(types ...ir.Type) int64 {
	total := ir.Dim{}
	for _, t := range types {
		total = total.Add(t.Elems())
	}
	if n, ok := total.Int64(); ok {
		return n
	}
	return math.MaxInt64
}

// splatResult evaluates an elementwise node on single elements, where all
// elements of each operand are equal.
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

// single returns the element of t, which stores one, as a tensor of rank 0.
func single(t *ir.Tensor) *ir.Tensor {
	s := ir.NewTensor(t.DType)
	s.Copy(0, t, 0)
	return s
}

// repeated returns a tensor of a shape all of whose elements are that of t.
func repeated(t *ir.Tensor, shape []int) *ir.Tensor {
	if ir.StaticTensor(t.DType, shape...).Elems().Equal(ir.Const(1)) {
		return single(t).Reshape(shape...)
	}
	return ir.Splat(t, shape...)
}

// staysSplat reports whether an operator makes a splat, of the splat args[0] or
// of nothing.
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
