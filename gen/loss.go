package gen

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// NoLoss selects no loss function: the caller computes loss and gradients.
const NoLoss = "none"

// loss is a loss function: the mean over the elements of a target. Each term is a function of the
// target and the scores.
type loss struct {
	// target returns the type of the target for the type of the scores.
	target func(scores ir.Type) (ir.Type, error)
	build  func(b *ir.Builder, scores, target *ir.Value) *ir.Value
}

// losses lists the loss functions for imported models, with PyTorch's names.
var losses = map[string]loss{
	"cross_entropy": {classes, func(b *ir.Builder, scores, target *ir.Value) *ir.Value {
		return likelihood(b, b.Node(op.LogSoftmax{Axis: 1}, beforeSoftmax(scores)), target)
	}},
	"nll": {classes, likelihood},
	"mse": {alike, func(b *ir.Builder, scores, target *ir.Value) *ir.Value {
		d := b.Node(op.Sub{}, scores, target)
		return mean(b, b.Node(op.Mul{}, d, d))
	}},
	"l1": {alike, func(b *ir.Builder, scores, target *ir.Value) *ir.Value {
		return mean(b, b.Node(op.Abs{}, b.Node(op.Sub{}, scores, target)))
	}},
	"bce": {alike, func(b *ir.Builder, p, target *ir.Value) *ir.Value {
		one := b.Scalar(ir.F32, 1)
		// As in PyTorch, logarithms are clamped to at least −100.
		log := func(x *ir.Value) *ir.Value { return b.Node(op.Max{}, b.Node(op.Log{}, x), b.Scalar(ir.F32, -100)) }
		is := b.Node(op.Mul{}, target, log(p))
		not := b.Node(op.Mul{}, b.Node(op.Sub{}, one, target), log(b.Node(op.Sub{}, one, p)))
		return b.Node(op.Neg{}, mean(b, b.Node(op.Add{}, is, not)))
	}},
	"bce_with_logits": {alike, func(b *ir.Builder, x, target *ir.Value) *ir.Value {
		// −t·log σ(x) − (1 − t)·log(1 − σ(x)) = log(1 + eˣ) − t·x
		return mean(b, b.Node(op.Sub{}, b.Node(op.Softplus{}, x), b.Node(op.Mul{}, target, x)))
	}},
}

// LossNames returns the values of -loss, including "none".
func LossNames() []string {
	return append(slices.Sorted(maps.Keys(losses)), NoLoss)
}

// classes returns the type of the target classes. Its elements are i64. Its shape is the shape of scores without axis
// 1, the axis of the classes.
func classes(scores ir.Type) (ir.Type, error) {
	if scores.Rank() < 2 {
		return ir.Type{}, fmt.Errorf("%s has no axis of classes", scores)
	}
	return ir.TensorOf(ir.I64, slices.Delete(slices.Clone(scores.Shape), 1, 2)...), nil
}

func alike(scores ir.Type) (ir.Type, error) { return ir.TensorOf(ir.F32, scores.Shape...), nil }

// beforeSoftmax returns x if scores is a softmax of x over the classes. The loss can then use the log-softmax of x,
// which is more accurate than the logarithm of scores. Otherwise beforeSoftmax returns scores. It skips reshapes that
// do not change the shape.
func beforeSoftmax(scores *ir.Value) *ir.Value {
	for scores.Def != nil {
		switch o := scores.Def.Op.(type) {
		case op.Softmax:
			if o.Axis == 1 {
				return scores.Def.Args[0]
			}
		case op.Reshape:
			if scores.Type.Equal(scores.Def.Args[0].Type) {
				scores = scores.Def.Args[0]
				continue
			}
		}
		break
	}
	return scores
}

// likelihood returns the negative mean of the log probabilities of the target classes.
func likelihood(b *ir.Builder, logs, target *ir.Value) *ir.Value {
	target = b.Node(op.CheckIndex{Count: logs.Type.Shape[1], What: "label", Things: "classes"}, target)
	shape := slices.Insert(slices.Clone(target.Type.Shape), 1, dim.Const(1))
	picked := b.Node(op.GatherElements{Axis: 1}, logs, b.Node(op.Reshape{Shape: shape}, target))
	return b.Node(op.Neg{}, mean(b, picked))
}

func mean(b *ir.Builder, x *ir.Value) *ir.Value {
	axes := make([]int, x.Type.Rank())
	for i := range axes {
		axes[i] = i
	}
	return b.Node(op.Reduce{Kind: op.ReduceMean, Axes: axes}, x)
}

// withLoss returns a source with an additional function @loss. The function applies a loss function to the first
// result of the source's first function. `name` is the name of the loss function. @loss has the parameters of the
// first function and the target. Its results are the loss and then the results of the first function. withLoss
// returns an error if there is no such loss function, or if the function cannot be applied to this result. It also
// returns an error if src already has a function @loss.
func withLoss(src *Source, name string) (*Source, error) {
	l, ok := losses[name]
	if !ok {
		return nil, fmt.Errorf("-loss %s: one of %s expected", name, strings.Join(LossNames(), ", "))
	}
	of := src.Functions[0]
	if src.Module.Func("loss") != nil {
		return nil, fmt.Errorf("-loss %s: the module already has a function @loss", name)
	}
	f := src.Module.Func(of.Name).Clone()
	f.Name = "loss"
	if len(f.Results) == 0 || !f.Results[0].Type.IsTensor() || !f.Results[0].Type.DType.IsFloat() {
		return nil, fmt.Errorf("-loss %s: the first output is not a float tensor", name)
	}
	err := ir.Try(func() {
		b := ir.NewBuilder(f)
		b.At("-loss " + name)
		scores := f.Results[0]
		typ, err := l.target(scores.Type)
		if err != nil {
			ir.FailWith(err)
		}
		target := targetParam(b, f, typ)
		if scores.Type.DType != ir.F32 {
			scores = b.Node(op.Cast{To: ir.F32}, scores)
		}
		f.Results = slices.Insert(f.Results, 0, l.build(b, scores, target))
		f.ResultNames = slices.Insert(f.ResultNames, 0, "loss")
	})
	if err != nil {
		return nil, fmt.Errorf("-loss %s: %w", name, err)
	}
	out := *src
	out.Module = src.Module.Clone()
	out.Module.Funcs = append(out.Module.Funcs, f)
	out.Functions = append(slices.Clone(src.Functions), Function{
		Name: f.Name, Method: "Loss", Loss: true, Direct: true, Outputs: "LossResult",
		Doc: "Loss computes the loss " + name + " of the model, which training minimises, and what\nthe model computes.",
	})
	return &out, nil
}

// targetParam adds a parameter for a target and returns the target, which has the type typ. If an extent of typ is
// known only while the function runs, the type of the parameter has a new symbol instead, and the function checks
// that the symbol and the extent are equal.
func targetParam(b *ir.Builder, f *ir.Func, typ ir.Type) *ir.Value {
	given := map[string]bool{}
	for _, p := range f.Params {
		for _, d := range p.Type.Shape {
			for _, s := range d.Symbols() {
				given[s] = true
			}
		}
	}
	shape := slices.Clone(typ.Shape)
	for i, d := range shape {
		if slices.ContainsFunc(d.Symbols(), func(s string) bool { return !given[s] }) {
			shape[i] = dim.Sym(b.Symbol(fmt.Sprintf("target_%d", i)))
		}
	}
	target := b.Param("target", ir.TensorOf(typ.DType, shape...))
	for i, d := range shape {
		if !d.Equal(typ.Shape[i]) {
			b.Nodes(ir.CheckDim{A: d, B: typ.Shape[i], What: fmt.Sprintf("axis %d of target", i)})
		}
	}
	if target.Type.Equal(typ) {
		return target
	}
	return b.Node(op.Reshape{Shape: typ.Shape}, target)
}
