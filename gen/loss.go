package gen

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// NoLoss is the loss of a model whose caller computes it.
const NoLoss = "none"

// loss is what training minimises: the mean over the elements of a target of a
// function of them and of what a model computes.
type loss struct {
	// target returns the type of the target for scores.
	target func(scores ir.Type) (ir.Type, error)
	build  func(b *ir.Builder, scores, target *ir.Value) *ir.Value
}

// losses are those that an imported model can be given, named as PyTorch's functions.
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
		// As in PyTorch, no logarithm is below −100.
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

// LossNames returns the losses that -loss knows, none among them.
func LossNames() []string {
	return append(slices.Sorted(maps.Keys(losses)), NoLoss)
}

// classes is the type of targets that name classes, axis 1 of the scores.
func classes(scores ir.Type) (ir.Type, error) {
	if scores.Rank() < 2 {
		return ir.Type{}, fmt.Errorf("%s has no axis of classes", scores)
	}
	return ir.TensorOf(ir.I64, slices.Delete(slices.Clone(scores.Shape), 1, 2)...), nil
}

// alike is the type of targets that are like the scores.
func alike(scores ir.Type) (ir.Type, error) { return ir.TensorOf(ir.F32, scores.Shape...), nil }

// beforeSoftmax returns the operand of a softmax over the classes, whose logarithm is
// more exact than that of its result, and any other value itself.
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

// likelihood returns minus the mean of the logarithms of probabilities that targets
// name.
func likelihood(b *ir.Builder, logs, target *ir.Value) *ir.Value {
	target = b.Node(op.CheckIndex{Count: logs.Type.Shape[1], What: "label", Things: "classes"}, target)
	shape := slices.Insert(slices.Clone(target.Type.Shape), 1, ir.Const(1))
	picked := b.Node(op.GatherElements{Axis: 1}, logs, b.Node(op.Reshape{Shape: shape}, target))
	return b.Node(op.Neg{}, mean(b, picked))
}

// mean returns the mean of all elements.
func mean(b *ir.Builder, x *ir.Value) *ir.Value {
	axes := make([]int, x.Type.Rank())
	for i := range axes {
		axes[i] = i
	}
	return b.Node(op.Reduce{Kind: op.ReduceMean, Axes: axes}, x)
}

// withLoss returns a source with a function @loss that computes a loss of the first
// result of its first function: it has that one's parameters and the target, and
// gives the loss before that one's results.
func withLoss(src *Source, name string) (*Source, error) {
	l, ok := losses[name]
	if !ok {
		return nil, fmt.Errorf("-loss %s: one of %s expected", name, strings.Join(LossNames(), ", "))
	}
	of := src.Functions[0]
	if src.Module.Func("loss") != nil {
		return nil, fmt.Errorf("-loss %s: the module has a function @loss", name)
	}
	f := src.Module.Func(of.Name).Clone()
	f.Name = "loss"
	if len(f.Results) == 0 || !f.Results[0].Type.IsTensor() || !f.Results[0].Type.DType.IsFloat() {
		return nil, fmt.Errorf("-loss %s: the first output is no float tensor", name)
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

// targetParam adds the parameter for a target of a type. An extent that the function
// finds out only when it runs is a symbol of the parameter's own, and then compared.
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
			shape[i] = ir.Sym(b.Symbol(fmt.Sprintf("target_%d", i)))
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
