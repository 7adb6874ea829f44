package op

import (
	"math"

	"github.com/burngen/burngen/ir"
)

// postTransform applies the attribute post_transform of the ai.onnx.ml operators to scores. scores is a matrix of
// f32 or f64 with a row for each example. A single score is changed only by PROBIT, because the other transforms
// are for scores of several classes. postTransform panics, as [ir.Fail] does, if the transform is unknown.
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

// twoScores returns the scores of two classes, [N,2], given the score s of the second class, [N,1]. The score of the
// first class is 1 − s if unit is true and transform is not LOGISTIC, and −s otherwise. With −s, the results of
// LOGISTIC add up to 1. twoScores then applies `transform` to both scores, unless it is SOFTMAX or SOFTMAX_ZERO.
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

// softmaxZero returns a softmax of each row in which scores near 0 are treated in another way. Let max be the
// maximum of the row, and sum the sum of e^(x − max) over the scores x with |x| > 1e−7. Such a score x becomes e^(x
// − max)/sum, and any other score becomes x·e^(−max)/sum.
func softmaxZero(b *ir.Builder, x *ir.Value) *ir.Value {
	d, zero := x.Type.DType, b.Scalar(x.Type.DType, 0)
	top := b.Node(Reduce{Kind: ReduceMax, Axes: []int{1}, KeepDims: true}, x)
	counts := b.Node(Greater{}, b.Node(Abs{}, x), b.Scalar(d, 1e-7))
	e := b.Node(Exp{}, b.Node(Sub{}, x, top))
	sum := b.Node(Reduce{Kind: ReduceSum, Axes: []int{1}, KeepDims: true}, b.Node(Where{}, counts, e, zero))
	small := b.Node(Mul{}, x, b.Node(Exp{}, b.Node(Neg{}, top)))
	return b.Node(Div{}, b.Node(Where{}, counts, e, small), sum)
}

// probit returns the quantile function of the standard normal distribution, √2·erf⁻¹(2p−1). As ONNX defines it,
// erf⁻¹ is Winitzki's approximation with a = 0.147.
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
