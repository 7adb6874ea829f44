package op

import (
	"fmt"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// importNegativeLogLikelihoodLoss imports NegativeLogLikelihoodLoss. Operand 0 holds log probabilities of classes,
// [N,C,…], and operand 1 the targets, [N,…]; see [likelihoodLoss].
func importNegativeLogLikelihoodLoss(c ir.Importer) ([]*ir.Value, error) {
	y, err := likelihoodLoss(c, c.Arg(0))
	return []*ir.Value{y}, err
}

func importSoftmaxCrossEntropyLoss(c ir.Importer) ([]*ir.Value, error) {
	scores := c.Arg(0)
	if scores.Type.Rank() < 2 {
		return nil, fmt.Errorf("scores %s have no classes", scores.Type)
	}
	logs := c.Builder().Node(LogSoftmax{Axis: 1}, scores)
	y, err := likelihoodLoss(c, logs)
	return []*ir.Value{y, logs}[:max(1, min(2, c.NumResults()))], err
}

// likelihoodLoss appends the loss of log probabilities for the targets, operand 1. Operand 2 holds optional class
// weights, and an attribute names the reduction. A target equal to ignore_index is left out, and need not be a
// class.
func likelihoodLoss(c ir.Importer, logs *ir.Value) (*ir.Value, error) {
	b, target, classes := c.Builder(), c.Arg(1), c.Arg(2)
	x, t := logs.Type, target.Type
	if x.Rank() < 2 || t.Rank() != x.Rank()-1 || !t.DType.IsInt() {
		return nil, fmt.Errorf("targets %s for %s", t, x)
	}
	both := []*ir.Value{logs, target}
	for i := range t.Rank() {
		axis := i + min(i, 1) // the classes are axis 1
		agree(b, both[0].Type.Shape[axis], both[1].Type.Shape[i], fmt.Sprintf("axis %d of the targets", i), both)
	}
	logs, target = both[0], both[1]
	t = target.Type
	var ignored *ir.Value
	if c.Has("ignore_index") {
		ignored = b.Node(Equal{}, target, b.Const(intScalar(t.DType, c.Int("ignore_index", 0))))
		target = b.Node(Where{}, ignored, b.Const(intScalar(t.DType, 0)), target)
	}
	target = checked(b, target, logs.Type.Shape[1], "label", "classes")
	shape := append([]dim.Dim{t.Shape[0], dim.Const(1)}, t.Shape[1:]...)
	picked := b.Node(GatherElements{Axis: 1}, logs, ReshapeTo(b, target, shape...))
	loss := b.Node(Neg{}, ReshapeTo(b, picked, t.Shape...))

	var weight *ir.Value
	if classes != nil {
		weight = b.Node(Gather{}, classes, target)
	}
	if ignored != nil {
		one := b.Scalar(x.DType, 1)
		if weight == nil {
			weight = one
		}
		weight = b.Node(Where{}, ignored, b.Scalar(x.DType, 0), weight)
		loss = b.Node(Where{}, ignored, b.Scalar(x.DType, 0), loss)
	}
	if weight != nil {
		loss = b.Node(Mul{}, loss, weight)
	}
	all := AllAxes(t.Rank())
	switch reduction := c.Text("reduction", "mean"); reduction {
	case "none":
		return loss, nil
	case "sum":
		return b.Node(Reduce{Kind: ReduceSum, Axes: all}, loss), nil
	case "mean":
		if weight == nil {
			return b.Node(Reduce{Kind: ReduceMean, Axes: all}, loss), nil
		}
		total := b.Node(Reduce{Kind: ReduceSum, Axes: all}, weight)
		return b.Node(Div{}, b.Node(Reduce{Kind: ReduceSum, Axes: all}, loss), total), nil
	default:
		return nil, fmt.Errorf("unknown reduction %q", reduction)
	}
}

// intScalar returns v as a tensor of rank 0, wrapped to the integer type d.
func intScalar(d ir.DType, v int) *ir.Tensor { return ir.IntTensor(d, int64(v)).Reshape() }
