package op

import (
	"fmt"
	"math"
	"slices"

	"github.com/burngen/burngen/ir"
)

// BatchNormalization is (x − mean)/√(variance + Epsilon)·scale + bias of floats,
// with x of [N,C,…] and operands x, scale, bias, mean and variance in this order
// (ONNX BatchNormalization, in inference). The last four have one element for
// each channel, [C], or for each place, [C,…]. Epsilon is an f32. While a model is
// trained, and the scale with it, the mean and the variance are those of x, and
// Momentum is the part of the operands that stays when these are updated.
type BatchNormalization struct{ Epsilon, Momentum float64 }

// Infer gives the type of x.
func (op BatchNormalization) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := tensors(in, 5, 5); err != nil {
		return nil, err
	}
	if err := checkDomain(in, floats{}); err != nil {
		return nil, err
	}
	x := in[0]
	if x.Rank() < 1 {
		return nil, fmt.Errorf("%s has no batch", x)
	}
	channels := []ir.Dim{ir.Const(1)}
	if x.Rank() > 1 {
		channels = x.Shape[1:]
	}
	for i, t := range in[1:] {
		if t.Rank() != 1 && t.Rank() != len(channels) {
			return nil, fmt.Errorf("operand %d is %s for %s", i+1, t, x)
		}
		for j, d := range t.Shape {
			if err := same(d, channels[j], fmt.Sprintf("axis %d of operand %d", j, i+1)); err != nil {
				return nil, err
			}
		}
	}
	return in[:1], nil
}

// Eval computes in float64.
func (op BatchNormalization) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	y := ir.NewTensor(x.DType, x.Shape...)
	inner := 1
	if len(x.Shape) > 1 {
		inner = lenOf(x.Shape[2:])
	}
	at := func(t *ir.Tensor, i int) float64 {
		switch {
		case t.Rank() > 1:
			return t.Float(i % t.Len())
		default:
			return t.Float(i / inner % t.Len())
		}
	}
	for i := range y.Len() {
		s := at(in[1], i) / math.Sqrt(at(in[4], i)+op.Epsilon)
		y.SetFloat(i, float64((x.Float(i)-at(in[3], i))*s)+at(in[2], i))
	}
	return []*ir.Tensor{y}, nil
}

// Lower makes it a product with s and a sum with t, where
// s = scale/√(variance + Epsilon) and t = bias − mean·s depend on the weights.
func (op BatchNormalization) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	if out := lowerNarrow(b, n); out != nil {
		return out
	}
	s, t := op.Affine(b, n)
	return []*ir.Value{b.Node(Add{}, b.Node(Mul{}, n.Arg(0), s), t)}
}

// Affine appends what makes n's result x·s + t: two tensors that broadcast to x,
// of [C,1…] or the shape of its places.
func (op BatchNormalization) Affine(b *ir.Builder, n *ir.Node) (s, t *ir.Value) {
	var args [5]*ir.Value
	for i := 1; i < 5; i++ {
		args[i] = op.broadcast(b, n, i)
	}
	s = b.Node(Div{}, args[1], b.Node(Sqrt{}, b.Node(Add{}, args[4], b.Scalar(args[4].Type.DType, op.Epsilon))))
	return s, b.Node(Sub{}, args[2], b.Node(Mul{}, args[3], s))
}

// broadcast appends operand i of n in the type of x and a shape that broadcasts to
// x's.
func (BatchNormalization) broadcast(b *ir.Builder, n *ir.Node, i int) *ir.Value {
	x := n.Arg(0).Type
	v := convert(b, n.Arg(i), x.DType)
	if v.Type.Rank() > 1 {
		return v
	}
	return reshape(b, v, perChannel(v.Type.Shape[0], x.Rank()-2)...)
}

// perChannel returns the shape of a value for each of c channels that broadcasts
// to [N,c,spatial…].
func perChannel(c ir.Dim, spatial int) []ir.Dim {
	shape := []ir.Dim{c}
	for range spatial {
		shape = append(shape, ir.Const(1))
	}
	return shape
}

// Flops counts a product and a sum for each element.
func (BatchNormalization) Flops(in, _ []ir.Type) ir.Dim { return in[0].Elems().Mul(ir.Const(2)) }

// Grad is s·g of x, Σ g·(x − mean)/√(variance + Epsilon) of the scale, Σ g of the bias,
// −Σ s·g of the mean, and −Σ s·g·(x − mean)/2(variance + Epsilon) of the variance, where
// s = scale/√(variance + Epsilon), g is the result's and sums are over what has one
// element of the operand.
func (op BatchNormalization) Grad(b *ir.Builder, n *ir.Node, of []*ir.Value, want []bool) []*ir.Value {
	c, x, g := calculus{b}, n.Arg(0), of[0]
	rank := max(x.Type.Rank(), 2)
	shape := append(slices.Clone(x.Type.Shape), ir.Const(1))[:rank]
	x, g = reshape(b, x, shape...), reshape(b, g, shape...)
	axes := []int{0}
	if n.Arg(1).Type.Rank() == 1 {
		axes = append(axes, allAxes(rank)[2:]...)
	}
	back := func(i int, v *ir.Value) *ir.Value { // the gradient of operand i
		return convert(b, reshape(b, c.sum(v, false, axes...), n.Arg(i).Type.Shape...), n.Arg(i).Type.DType)
	}
	scale, mean, variance := op.broadcast(b, n, 1), op.broadcast(b, n, 3), op.broadcast(b, n, 4)
	deviation := b.Node(Sqrt{}, c.plus(variance, op.Epsilon))
	s := c.div(scale, deviation)
	grads := make([]*ir.Value, 5)
	if want[0] {
		grads[0] = reshape(b, c.mul(g, s), n.Arg(0).Type.Shape...)
	}
	if want[1] {
		grads[1] = back(1, c.mul(g, c.div(c.sub(x, mean), deviation)))
	}
	if want[2] {
		grads[2] = back(2, g)
	}
	if want[3] {
		grads[3] = back(3, c.neg(c.mul(g, s)))
	}
	if want[4] {
		half := c.div(c.times(s, -0.5), c.plus(variance, op.Epsilon))
		grads[4] = back(4, c.mul(c.mul(g, c.sub(x, mean)), half))
	}
	return grads
}

// Train normalises by the statistics of x, unless the scale is frozen. The mean and
// the variance of x, the latter of a sample (over n − 1), are added to the operands'
// with the weight 1 − Momentum.
func (op BatchNormalization) Train(b *ir.Builder, n *ir.Node, t ir.Training) []*ir.Value {
	x := n.Arg(0)
	if t.IsFrozen(n.Arg(1)) || n.Arg(3).Def == nil || n.Arg(4).Def == nil {
		return nil
	}
	c, axes, count := calculus{b}, []int{0}, x.Type.Shape[0]
	if n.Arg(3).Type.Rank() == 1 {
		for _, a := range allAxes(x.Type.Rank())[min(2, x.Type.Rank()):] {
			axes, count = append(axes, a), count.Mul(x.Type.Shape[a])
		}
	}
	perChannel := op.perChannel(n)
	var mean, variance *ir.Value
	if perChannel {
		mean, variance = channelMoments(b, x, n.Arg(3).Type.Shape)
	} else {
		mean, variance = moments(b, x, axes)
		mean, variance = reshape(b, mean, n.Arg(3).Type.Shape...), reshape(b, variance, n.Arg(4).Type.Shape...)
	}
	size := c.extent(variance, count)
	others := b.Node(Max{}, c.plus(size, -1), c.num(size, 1))
	update := func(i int, batch *ir.Value) {
		running := n.Arg(i)
		batch = convert(b, batch, running.Type.DType)
		t.Update(running, c.add(c.times(running, op.Momentum), c.times(batch, 1-op.Momentum)))
	}
	update(3, mean)
	update(4, c.mul(variance, c.div(size, others)))
	if perChannel {
		return []*ir.Value{b.Node(BatchNormTraining{Epsilon: op.Epsilon}, x, n.Arg(1), n.Arg(2))}
	}
	return []*ir.Value{b.Node(op, x, n.Arg(1), n.Arg(2), convert(b, mean, n.Arg(3).Type.DType), convert(b, variance, n.Arg(4).Type.DType))}
}

// perChannel reports whether the operands have one number for each channel of x, all of one
// type.
func (BatchNormalization) perChannel(n *ir.Node) bool {
	x := n.Arg(0).Type
	return x.Rank() > 1 && !slices.ContainsFunc(n.Args[1:], func(v *ir.Value) bool {
		return !v.Type.Equal(ir.TensorOf(x.DType, x.Shape[1]))
	})
}

// importBatchNormalization reads BatchNormalization. Whether it trains follows
// from is_test before opset 7, from the number of results before 14, and from
// training_mode from there on. Without spatial, before opset 9, statistics are
// kept for each place.
func importBatchNormalization(c ir.Importer) ([]*ir.Value, error) {
	op := BatchNormalization{c.Float("epsilon", float64(float32(1e-5))), c.Float("momentum", float64(float32(0.9)))}
	if c.Opset() < 6 {
		c.Ints("consumed_inputs", nil)
	}
	if c.Opset() < 7 {
		c.Int("is_test", 0)
	}
	spatial := c.Opset() >= 9 || c.Int("spatial", 1) != 0
	training := c.Opset() >= 14 && c.Int("training_mode", 0) != 0
	for i := 1; i < c.NumResults(); i++ {
		training = training || c.Wants(i)
	}
	if x := c.Arg(0).Type; !spatial && x.Rank() > 2 && c.Arg(1).Type.Rank() == 1 {
		return nil, fmt.Errorf("scale %s with spatial unset, rank %d expected", c.Arg(1).Type, x.Rank()-1)
	}
	if training {
		warnOfTraining(c, "normalises by the statistics of the batch")
		return op.train(c, spatial), nil
	}
	return []*ir.Value{c.Builder().Node(op, c.Arg(0), c.Arg(1), c.Arg(2), c.Arg(3), c.Arg(4))}, nil
}

// warnOfTraining tells that a model was exported in training mode, and what the node does
// therefore in inference.
func warnOfTraining(c ir.Importer, does string) {
	c.Warn("it was exported in training mode and " + does + ", in inference too; export the model in evaluation mode (model.eval() in PyTorch): -train trains such a file")
}

// train appends the normalisation by the statistics of operand 0 itself; further
// results are the running mean and variance, updated, and the statistics.
func (op BatchNormalization) train(c ir.Importer, spatial bool) []*ir.Value {
	b, x, mean, variance := c.Builder(), c.Arg(0), c.Arg(3), c.Arg(4)
	axes := []int{0}
	if spatial {
		axes = append(axes, allAxes(x.Type.Rank())[min(2, x.Type.Rank()):]...)
	}
	m, v := moments(b, x, axes)
	m, v = reshape(b, m, mean.Type.Shape...), reshape(b, v, variance.Type.Shape...)
	update := func(running, batch *ir.Value) *ir.Value {
		d := running.Type.DType
		kept := b.Node(Mul{}, running, b.Scalar(d, op.Momentum))
		return b.Node(Add{}, kept, b.Node(Mul{}, convert(b, batch, d), b.Scalar(d, 1-op.Momentum)))
	}
	out := []*ir.Value{b.Node(op, x, c.Arg(1), c.Arg(2), m, v), update(mean, m), update(variance, v), m, v}
	return out[:min(len(out), c.NumResults())]
}

// IsStatistic reports whether an operand is the mean or the variance.
func (BatchNormalization) IsStatistic(operand int) bool { return operand >= 3 }
