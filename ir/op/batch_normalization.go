package op

import (
	"fmt"
	"math"
	"slices"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// BatchNormalization is (x − mean)/√(variance + Epsilon)·scale + bias for floats x of [N,C,…] (ONNX
// BatchNormalization in inference). The operands are x, scale, bias, mean and variance. The last four have one
// element for each channel, [C], or for each position, [C,…]. Epsilon has the precision of an f32.
// [BatchNormalization.Train] is the form for training, in which mean and variance are computed from x. Momentum is
// the weight of the old values when training updates the running statistics.
type BatchNormalization struct{ Epsilon, Momentum float64 }

// Infer returns the type of x.
func (op BatchNormalization) Infer(in []ir.Type) ([]ir.Type, error) {
	if err := CheckTensors(in, 5, 5); err != nil {
		return nil, err
	}
	if err := checkDomain(in, floats{}); err != nil {
		return nil, err
	}
	x := in[0]
	if x.Rank() < 1 {
		return nil, fmt.Errorf("%s has no batch", x)
	}
	channels := []dim.Dim{dim.Const(1)}
	if x.Rank() > 1 {
		channels = x.Shape[1:]
	}
	for i, t := range in[1:] {
		if t.Rank() != 1 && t.Rank() != len(channels) {
			return nil, fmt.Errorf("operand %d is %s for %s", i+1, t, x)
		}
		for j, d := range t.Shape {
			if err := Same(d, channels[j], fmt.Sprintf("axis %d of operand %d", j, i+1)); err != nil {
				return nil, err
			}
		}
	}
	return in[:1], nil
}

// Eval returns the normalised x, in x's shape, computed in float64.
func (op BatchNormalization) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) {
	x := in[0]
	y := ir.NewTensor(x.DType, x.Shape...)
	inner := 1
	if len(x.Shape) > 1 {
		inner = LenOf(x.Shape[2:])
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

// Lower replaces the node by x·s + t. s = scale/√(variance + Epsilon) and t = bias − mean·s do not depend on x.
func (op BatchNormalization) Lower(b *ir.Builder, n *ir.Node) []*ir.Value {
	if out := lowerNarrow(b, n); out != nil {
		return out
	}
	s, t := op.Affine(b, n)
	return []*ir.Value{b.Node(Add{}, b.Node(Mul{}, n.Arg(0), s), t)}
}

// Affine appends two values s and t, with which the result of n is x·s + t. Both broadcast to x. Their shape is
// [C,1…], or [C,…] if scale, bias, mean and variance have one element for each position.
func (op BatchNormalization) Affine(b *ir.Builder, n *ir.Node) (s, t *ir.Value) {
	var args [5]*ir.Value
	for i := 1; i < 5; i++ {
		args[i] = op.broadcast(b, n, i)
	}
	s = b.Node(Div{}, args[1], b.Node(Sqrt{}, b.Node(Add{}, args[4], b.Scalar(args[4].Type.DType, op.Epsilon))))
	return s, b.Node(Sub{}, args[2], b.Node(Mul{}, args[3], s))
}

// broadcast appends operand i of n, reshaped so that it broadcasts to x, and converted to the element type of x.
func (BatchNormalization) broadcast(b *ir.Builder, n *ir.Node, i int) *ir.Value {
	x := n.Arg(0).Type
	v := ConvertTo(b, n.Arg(i), x.DType)
	if v.Type.Rank() > 1 {
		return v
	}
	return ReshapeTo(b, v, perChannel(v.Type.Shape[0], x.Rank()-2)...)
}

// perChannel returns [c,1…], where `spatial` is the number of ones. A tensor of this shape has one value per
// channel, and broadcasts to [N,c,spatial…].
func perChannel(c dim.Dim, spatial int) []dim.Dim {
	shape := []dim.Dim{c}
	for range spatial {
		shape = append(shape, dim.Const(1))
	}
	return shape
}

// Flops counts a product and a sum for each element.
func (BatchNormalization) Flops(in, _ []ir.Type) dim.Dim { return in[0].Elems().Mul(dim.Const(2)) }

// Grad returns the gradients of x, scale, bias, mean and variance, where v = variance + Epsilon and s = scale/√v:
//
//	dx        = s·dy
//	dscale    = Σ dy·(x − mean)/√v
//	dbias     = Σ dy
//	dmean     = −Σ s·dy
//	dvariance = −Σ s·dy·(x − mean)/(2v)
//
// Each sum for an element of an operand is over all elements of x that are combined with this element.
func (op BatchNormalization) Grad(b *ir.Builder, n *ir.Node, dy []*ir.Value, want []bool) []*ir.Value {
	c, x, g := calculus{b}, n.Arg(0), dy[0]
	rank := max(x.Type.Rank(), 2)
	shape := append(slices.Clone(x.Type.Shape), dim.Const(1))[:rank]
	x, g = ReshapeTo(b, x, shape...), ReshapeTo(b, g, shape...)
	axes := []int{0}
	if n.Arg(1).Type.Rank() == 1 {
		axes = append(axes, AllAxes(rank)[2:]...)
	}
	back := func(i int, v *ir.Value) *ir.Value { // the gradient of operand i
		return ConvertTo(b, ReshapeTo(b, c.sum(v, false, axes...), n.Arg(i).Type.Shape...), n.Arg(i).Type.DType)
	}
	scale, mean, variance := op.broadcast(b, n, 1), op.broadcast(b, n, 3), op.broadcast(b, n, 4)
	deviation := b.Node(Sqrt{}, c.plus(variance, op.Epsilon))
	s := c.div(scale, deviation)
	grads := make([]*ir.Value, 5)
	if want[0] {
		grads[0] = ReshapeTo(b, c.mul(g, s), n.Arg(0).Type.Shape...)
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

// Train replaces the node by one that normalises by the statistics of x. It updates the running statistics with the
// mean of x and the sample variance (which divides by the number of values minus 1). The new statistics get the
// weight 1 − Momentum, and the old ones the weight Momentum. Train returns nil, and changes nothing, if the scale is
// frozen, or if the running mean or variance is a parameter of the function.
func (op BatchNormalization) Train(b *ir.Builder, n *ir.Node, t ir.Training) []*ir.Value {
	x := n.Arg(0)
	if t.IsFrozen(n.Arg(1)) || n.Arg(3).Def == nil || n.Arg(4).Def == nil {
		return nil
	}
	c, axes, count := calculus{b}, []int{0}, x.Type.Shape[0]
	if n.Arg(3).Type.Rank() == 1 {
		for _, a := range AllAxes(x.Type.Rank())[min(2, x.Type.Rank()):] {
			axes, count = append(axes, a), count.Mul(x.Type.Shape[a])
		}
	}
	perChannel := op.perChannel(n)
	var mean, variance *ir.Value
	if perChannel {
		mean, variance = channelMoments(b, x, n.Arg(3).Type.Shape)
	} else {
		mean, variance = moments(b, x, axes)
		mean, variance = ReshapeTo(b, mean, n.Arg(3).Type.Shape...), ReshapeTo(b, variance, n.Arg(4).Type.Shape...)
	}
	size := c.extent(variance, count)
	others := b.Node(Max{}, c.plus(size, -1), c.num(size, 1))
	update := func(i int, batch *ir.Value) {
		running := n.Arg(i)
		batch = ConvertTo(b, batch, running.Type.DType)
		t.Update(running, c.add(c.times(running, op.Momentum), c.times(batch, 1-op.Momentum)))
	}
	update(3, mean)
	update(4, c.mul(variance, c.div(size, others)))
	if perChannel {
		return []*ir.Value{b.Node(BatchNormTraining{Epsilon: op.Epsilon}, x, n.Arg(1), n.Arg(2))}
	}
	return []*ir.Value{b.Node(op, x, n.Arg(1), n.Arg(2), ConvertTo(b, mean, n.Arg(3).Type.DType), ConvertTo(b, variance, n.Arg(4).Type.DType))}
}

// perChannel reports whether the operands after x are vectors [C] with the element type of x.
func (BatchNormalization) perChannel(n *ir.Node) bool {
	x := n.Arg(0).Type
	return x.Rank() > 1 && !slices.ContainsFunc(n.Args[1:], func(v *ir.Value) bool {
		return !v.Type.Equal(ir.TensorOf(x.DType, x.Shape[1]))
	})
}

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

func warnOfTraining(c ir.Importer, does string) {
	c.Warn("it was exported in training mode and " + does + ", in inference too; export the model in evaluation mode (model.eval() in PyTorch): -train trains such a file")
}

func (op BatchNormalization) train(c ir.Importer, spatial bool) []*ir.Value {
	b, x, mean, variance := c.Builder(), c.Arg(0), c.Arg(3), c.Arg(4)
	axes := []int{0}
	if spatial {
		axes = append(axes, AllAxes(x.Type.Rank())[min(2, x.Type.Rank()):]...)
	}
	m, v := moments(b, x, axes)
	m, v = ReshapeTo(b, m, mean.Type.Shape...), ReshapeTo(b, v, variance.Type.Shape...)
	update := func(running, batch *ir.Value) *ir.Value {
		d := running.Type.DType
		kept := b.Node(Mul{}, running, b.Scalar(d, op.Momentum))
		return b.Node(Add{}, kept, b.Node(Mul{}, ConvertTo(b, batch, d), b.Scalar(d, 1-op.Momentum)))
	}
	out := []*ir.Value{b.Node(op, x, c.Arg(1), c.Arg(2), m, v), update(mean, m), update(variance, v), m, v}
	return out[:min(len(out), c.NumResults())]
}

// IsStatistic reports whether an operand is the running mean or variance.
func (BatchNormalization) IsStatistic(operand int) bool { return operand >= 3 }
