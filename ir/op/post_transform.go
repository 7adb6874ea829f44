package op

import (
	"math"

	"github.com/burngen/burngen/ir"
)

// postTransform applies post_transform of the ai.onnx.ml operators to scores, a matrix of f32 or
// f64 with a row for each example. If there is a single score, only PROBIT changes it, because the
// other transforms apply to scores of classes. postTransform panics, as [ir.Fail] does, if it does
// not know the transform.
func postTransform(b *ir.Builder, scores *ir.Value, transform string) *ir.Value {
	if n, ok := scores.Type.Shape[1].Int(); ok && n == 1 && (transform == "LOGISTIC" || transform == "SOFTMAX" || transform == "SOFTMAX_ZERO") {
		transform = "NONE"
	}
	switch transform {
	case "NONE":
		return scores
	case "LOGISTIC":
		return b.Node(Sigmoid{}, scores)
	case "SOFTMAX":
		return b.Node(Softmax{Axis: 1}, scores)
	case "SOFTMAX_ZERO":
		return softmaxZero(b, scores)
	case "PROBIT":
		return probit(b, scores)
	}
	ir.Fail("unknown post_transform %q", transform)
	return nil
}

// twoScores returns scores of two classes, [N,2], given the second class's score, [N,1]. The first
// is the negative of the second or, with unit, 1 minus the second. If LOGISTIC follows, the first
// is always the negative, so that the two sum to 1. Other class transforms do not change two scores
// made from one.
func twoScores(b *ir.Builder, score *ir.Value, unit bool, transform string) *ir.Value {
	other := b.Node(Neg{}, score)
	if unit && transform != "LOGISTIC" {
		other = b.Node(Sub{}, b.Scalar(score.Type.DType, 1), score)
	}
	scores := b.Node(Concat{Axis: 1}, other, score)
	if transform == "SOFTMAX" || transform == "SOFTMAX_ZERO" {
		return scores
	}
	return postTransform(b, scores, transform)
}

// softmaxZero returns the softmax of each row over the scores x whose magnitude exceeds 1e−7. A
// score x of at most this magnitude becomes x·e^(−max) divided by the denominator of the softmax,
// where max is the maximum of the row.
func softmaxZero(b *ir.Builder, x *ir.Value) *ir.Value {
	d, zero := x.Type.DType, b.Scalar(x.Type.DType, 0)
	top := b.Node(Reduce{Kind: ReduceMax, Axes: []int{1}, KeepDims: true}, x)
	counts := b.Node(Greater{}, b.Node(Abs{}, x), b.Scalar(d, 1e-7))
	e := b.Node(Exp{}, b.Node(Sub{}, x, top))
	sum := b.Node(Reduce{Kind: ReduceSum, Axes: []int{1}, KeepDims: true}, b.Node(Where{}, counts, e, zero))
	small := b.Node(Mul{}, x, b.Node(Exp{}, b.Node(Neg{}, top)))
	return b.Node(Div{}, b.Node(Where{}, counts, e, small), sum)
}

// probit returns the quantile of the normal distribution, √2·erf⁻¹(2p−1). It uses Winitzki's
// approximation of erf⁻¹ for a = 0.147, as ONNX defines the transform.
func probit(b *ir.Builder, p *ir.Value) *ir.Value {
	const a = 0.147
	d := p.Type.DType
	scalar := func(v float64) *ir.Value { return b.Scalar(d, v) }
	x := b.Node(Sub{}, b.Node(Mul{}, p, scalar(2)), scalar(1))
	log := b.Node(Log{}, b.Node(Mul{}, b.Node(Sub{}, scalar(1), x), b.Node(Add{}, scalar(1), x)))
	v := b.Node(Add{}, b.Node(Mul{}, log, scalar(0.5)), scalar(2/(math.Pi*a)))
	root := b.Node(Sqrt{}, b.Node(Sub{}, b.Node(Mul{}, v, v), b.Node(Mul{}, log, scalar(1/a))))
	y := b.Node(Sqrt{}, b.Node(Sub{}, root, v))
	sign := b.Node(Where{}, b.Node(Less{}, x, scalar(0)), scalar(-math.Sqrt2), scalar(math.Sqrt2))
	return b.Node(Mul{}, sign, y)
}
