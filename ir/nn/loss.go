package nn

import (
	"math"

	"github.com/burngen/burngen/ir/op"
)

// LossOption is an option of losses. All losses take [ReduceSum], [NoReduction] and [BatchMean].
//   - [CrossEntropy] and [NLL] also take [ClassWeights], [LabelSmoothing] and [IgnoreIndex].
//     CrossEntropy also takes [Probabilities].
//   - [BinaryCrossEntropy] and [BCEWithLogits] also take [ClassWeights]. BCEWithLogits also takes
//     [LabelSmoothing].
type LossOption interface{ loss(*lossOptions) }

type lossOptions struct {
	reduction     string
	weights       Value
	smoothing     float64
	ignored       []int
	probabilities bool
	logarithms    bool // the operand holds log probabilities
}

type (
	reductionOption     string
	weightsOption       struct{ Value }
	smoothingOption     float64
	ignoreOption        []int
	probabilitiesOption struct{}
	logarithmsOption    struct{}
)

var (
	// ReduceSum makes a loss return the sum over all elements instead of the mean.
	ReduceSum = reductionOption("sum")
	// NoReduction makes a loss return a tensor with the loss of every element.
	NoReduction = reductionOption("none")
	// BatchMean divides the sum of the losses by the batch size.
	BatchMean = reductionOption("batchmean")
	// Probabilities tells [CrossEntropy] that its operand holds probabilities instead of logits.
	Probabilities probabilitiesOption
)

// ClassWeights multiplies the loss of each class by the weight of the class. If targets are classes, the mean of
// the loss becomes a weighted mean.
func ClassWeights(w Value) weightsOption { return weightsOption{w} }

// LabelSmoothing replaces the target probability t of each of C classes by (1 − share)·t + share/C. share is from 0
// to 1.
func LabelSmoothing(share float64) smoothingOption { return smoothingOption(share) }

// IgnoreIndex leaves out the elements whose target is in `targets`, such as the class of padding. The mean is over
// the elements that are left. It is NaN if no element is left.
func IgnoreIndex(targets ...int) ignoreOption { return targets }

func (o reductionOption) loss(l *lossOptions)   { l.reduction = string(o) }
func (o weightsOption) loss(l *lossOptions)     { l.weights = o.Value }
func (o smoothingOption) loss(l *lossOptions)   { l.smoothing = float64(o) }
func (o ignoreOption) loss(l *lossOptions)      { l.ignored = o }
func (probabilitiesOption) loss(l *lossOptions) { l.probabilities = true }
func (logarithmsOption) loss(l *lossOptions)    { l.logarithms = true }

func losing(options []LossOption) lossOptions {
	l := lossOptions{reduction: "mean"}
	for _, o := range options {
		o.loss(&l)
	}
	return l
}

func (l lossOptions) reduce(x Value) Value {
	switch l.reduction {
	case "none":
		return x
	case "sum":
		return x.Sum()
	case "batchmean":
		return x.Sum().Div(x.Dim(0))
	}
	return x.Mean()
}

// pair panics with an [*Error] unless x and y have the same shape.
func pair(x, y Value) {
	if !x.typ().Equal(y.typ()) {
		fail("%s beside %s", x.typ(), y.typ())
	}
}

// CrossEntropy returns the mean of −log softmax(logits)[target]. Options select another reduction. logits are [N,
// C, …]. target holds classes, i64 [N, …], or probabilities in the shape of logits. The generated code returns an
// error if a class is neither in [0, C) nor listed in [IgnoreIndex].
func CrossEntropy(logits, target Value, options ...LossOption) Value {
	l := losing(options)
	if logits.Rank() < 2 {
		fail("logits %s, [N,C,…] expected", logits.typ())
	}
	var logp Value
	switch {
	case l.logarithms:
		logp = logits
	case l.probabilities:
		logp = logits.ClampMin(1e-38).Log()
	default:
		logp = LogSoftmax(logits, 1)
	}
	classes := logits.Dim(1)
	if target.DType().IsFloat() {
		pair(logits, target)
		if l.smoothing > 0 {
			target = target.Mul(1 - l.smoothing).Add(Scalar(l.smoothing).Cast(logits.DType()).Div(classes))
		}
		loss := logp.Mul(target).Neg()
		if l.weights.Valid() {
			loss = loss.Mul(perChannel(l.weights, logits.Rank()))
		}
		loss = loss.Sum(1).Squeeze(1)
		if l.reduction == "mean" {
			return loss.Sum().Div(loss.Size())
		}
		return l.reduce(loss)
	}
	if target.Rank() != logits.Rank()-1 {
		fail("targets %s for logits %s", target.typ(), logits.typ())
	}
	for i := range target.Rank() {
		at := i
		if i > 0 {
			at = i + 1
		}
		if !target.Dim(i).Equal(logits.Dim(at)) {
			fail("targets %s for logits %s", target.typ(), logits.typ())
		}
	}
	var kept Value // weight 1, or 0 for ignored elements
	if len(l.ignored) > 0 {
		for _, i := range l.ignored {
			k := target.NotEqual(i)
			if kept.Valid() {
				k = kept.And(k)
			}
			kept = k
		}
		target = Where(kept, target, 0)
		kept = kept.Cast(logits.DType())
	}
	target = target.oneOf(classes, "label", "classes")
	loss := logp.Gather(1, target.Unsqueeze(1)).Squeeze(1).Neg()
	count := kept
	if l.weights.Valid() {
		w := l.weights.Select(0, target)
		loss = loss.Mul(w)
		if count = w; kept.Valid() {
			count = w.Mul(kept)
		}
	}
	if l.smoothing > 0 {
		all := logp
		if l.weights.Valid() {
			all = all.Mul(perChannel(l.weights, logits.Rank()))
		}
		smooth := all.Sum(1).Squeeze(1).Neg().Div(classes)
		loss = loss.Mul(1 - l.smoothing).Add(smooth.Mul(l.smoothing))
	}
	if kept.Valid() {
		loss = loss.Mul(kept)
	}
	if l.reduction == "mean" && count.Valid() {
		return loss.Sum().Div(count.Sum())
	}
	return l.reduce(loss)
}

// NLL returns the mean of −logProbabilities[target]. It is [CrossEntropy] for logits that [LogSoftmax] has been
// applied to.
func NLL(logProbabilities, target Value, options ...LossOption) Value {
	return CrossEntropy(logProbabilities, target, append(options[:len(options):len(options)], logarithmsOption{})...)
}

// BinaryCrossEntropy returns the mean of −(t·log p + (1 − t)·log(1 − p)) for probabilities p and
// targets t. Logarithms are clamped to at least −100.
func BinaryCrossEntropy(p, target Value, options ...LossOption) Value {
	pair(p, target)
	yes, no := p.Log().ClampMin(-100), p.SubFrom(1).Log().ClampMin(-100)
	return weighted(target.Mul(yes).Add(target.SubFrom(1).Mul(no)).Neg(), options)
}

// BCEWithLogits is [BinaryCrossEntropy] of Sigmoid(x), computed in a numerically stable form.
func BCEWithLogits(x, target Value, options ...LossOption) Value {
	pair(x, target)
	if l := losing(options); l.smoothing > 0 {
		target = target.Mul(1 - l.smoothing).Add(l.smoothing / 2)
	}
	return weighted(one(op.Softplus{}, x).Sub(x.Mul(target)), options)
}

// weighted multiplies losses by [ClassWeights], which broadcast, and reduces them.
func weighted(loss Value, options []LossOption) Value {
	l := losing(options)
	if l.weights.Valid() {
		loss = loss.Mul(l.weights)
	}
	return l.reduce(loss)
}

// MSE returns the mean of (x − y)².
func MSE(x, y Value, options ...LossOption) Value {
	pair(x, y)
	return losing(options).reduce(x.Sub(y).Square())
}

// L1 returns the mean of |x − y|.
func L1(x, y Value, options ...LossOption) Value {
	pair(x, y)
	return losing(options).reduce(x.Sub(y).Abs())
}

// Huber returns the mean of f(|x − y|), where f(d) is d²/2 if d ≤ delta, and delta·(d − delta/2) otherwise.
func Huber(x, y Value, delta float64, options ...LossOption) Value {
	pair(x, y)
	d := x.Sub(y).Abs()
	return losing(options).reduce(Where(d.LessEqual(delta), d.Square().Mul(0.5), d.Sub(delta/2).Mul(delta)))
}

// SmoothL1 returns the mean of f(|x − y|), where f(d) is d²/(2·beta) if d ≤ beta, and d − beta/2 otherwise. If beta
// is 0, it is [L1].
func SmoothL1(x, y Value, beta float64, options ...LossOption) Value {
	if beta == 0 {
		return L1(x, y, options...)
	}
	return Huber(x, y, beta, options...).Div(beta)
}

// LpLoss returns the mean of |x − y|^p.
func LpLoss(x, y Value, p float64, options ...LossOption) Value {
	pair(x, y)
	return losing(options).reduce(x.Sub(y).Abs().Pow(p))
}

// KLDiv returns the Kullback–Leibler divergence, the mean of t·(log t − x). x holds log probabilities. t is the
// probability of the target. If logTarget is true, target holds log t, otherwise t. If logTarget is false, the loss
// of an element with t = 0 is 0.
func KLDiv(x, target Value, logTarget bool, options ...LossOption) Value {
	pair(x, target)
	if logTarget {
		return losing(options).reduce(target.Exp().Mul(target.Sub(x)))
	}
	positive := target.Greater(0)
	log := Where(positive, target, 1).Log()
	return losing(options).reduce(Where(positive, target.Mul(log.Sub(x)), 0))
}

// PoissonNLL returns the mean of e^x − t·x, where t is the target. If logInput is false, it returns the mean of x −
// t·log(x + 1e-8). If full is true, Stirling's approximation of log t! is added for targets above 1.
func PoissonNLL(x, target Value, logInput, full bool, options ...LossOption) Value {
	pair(x, target)
	loss := x.Sub(target.Mul(x.Add(1e-8).Log()))
	if logInput {
		loss = x.Exp().Sub(target.Mul(x))
	}
	if full {
		t := target.ClampMin(1)
		stirling := t.Mul(t.Log()).Sub(t).Add(t.Mul(2 * math.Pi).Log().Mul(0.5))
		loss = loss.Add(Where(target.Greater(1), stirling, 0))
	}
	return losing(options).reduce(loss)
}

// GaussianNLL returns the mean of (log v + (x − y)²/v)/2. v is the variance, clamped to at least 1e-6. If full is
// true, log(2π)/2 is added.
func GaussianNLL(x, y, variance Value, full bool, options ...LossOption) Value {
	v := variance.ClampMin(1e-6)
	loss := v.Log().Add(x.Sub(y).Square().Div(v)).Mul(0.5)
	if full {
		loss = loss.Add(math.Log(2*math.Pi) / 2)
	}
	return losing(options).reduce(loss)
}

// HingeEmbedding returns the mean over the elements of x. The loss of an element is x if its target is 1, and
// max(0, margin − x) if its target is −1.
func HingeEmbedding(x, target Value, margin float64, options ...LossOption) Value {
	return losing(options).reduce(Where(target.Equal(1), x, ReLU(x.SubFrom(margin))))
}

// CosineEmbedding returns a mean over the rows of x and y, [N, D]. The loss of a row is 1 − cos(x, y) if its target
// is 1, and max(0, cos(x, y) − margin) if its target is −1. target is [N].
func CosineEmbedding(x, y, target Value, margin float64, options ...LossOption) Value {
	cos := CosineSimilarity(x, y, -1, 1e-8)
	return losing(options).reduce(Where(target.Equal(1), cos.SubFrom(1), ReLU(cos.Sub(margin))))
}

// MarginRanking returns the mean of max(0, margin − target·(x − y)).
func MarginRanking(x, y, target Value, margin float64, options ...LossOption) Value {
	return losing(options).reduce(ReLU(x.Sub(y).Mul(target).SubFrom(margin)))
}

// SoftMargin returns the mean of log(1 + e^(−target·x)).
func SoftMargin(x, target Value, options ...LossOption) Value {
	return losing(options).reduce(one(op.Softplus{}, x.Mul(target).Neg()))
}

// MultiMargin returns the mean over the rows of x, [N, C]. The loss of a row is Σ max(0, margin − x[target] +
// x[i])^p / C, summed over all classes i except the target. p is 1 or 2. target is i64 [N].
func MultiMargin(x, target Value, p int, margin float64, options ...LossOption) Value {
	if p != 1 && p != 2 {
		fail("p is %d, 1 or 2 expected", p)
	}
	target = target.oneOf(x.Dim(1), "label", "classes")
	own := x.Gather(1, target.Unsqueeze(1))
	d := ReLU(x.Sub(own).Add(margin))
	if p == 2 {
		d = d.Square()
	}
	d = Where(target.OneHot(x.Dim(1)).Equal(1), 0, d)
	return losing(options).reduce(d.SumSqueezed(1).Div(x.Dim(1)))
}

// TripletMargin returns the mean of max(0, d(anchor, positive) − d(anchor, negative) + margin) over rows [N, D]. d
// is the [PairwiseDistance] with this p and epsilon 1e-6.
func TripletMargin(anchor, positive, negative Value, margin, p float64, options ...LossOption) Value {
	near, far := PairwiseDistance(anchor, positive, p, 1e-6), PairwiseDistance(anchor, negative, p, 1e-6)
	return losing(options).reduce(ReLU(near.Sub(far).Add(margin)))
}

// spelled returns targets, [N, L], and lengths, [N], with checks: lengths must be in [0, L], and the first lengths[n]
// targets of row n must be in [0, classes). Later targets may have any value, and become 0.
func spelled(targets, lengths Value, classes Extent) (Value, Value) {
	length := targets.Dim(1)
	lengths = lengths.oneOf(length.Add(1), "length", "lengths")
	inside := Arange(length).Unsqueeze(0).Less(lengths.Unsqueeze(1))
	return Where(inside, targets, 0).oneOf(classes, "label", "classes"), lengths
}

// GramMatrix returns the inner products of all pairs of channels of x, [N, C, H, W], divided by C·H·W. The result
// is [N, C, C] (Gatys and others, 2015).
func GramMatrix(x Value) Value {
	f := x.Flatten(2, -1)
	return f.MatMul(f.T()).Div(f.Dim(1).Mul(f.Dim(2)))
}

// CTC returns the connectionist temporal classification loss (Graves and others, 2006). The loss of a sequence is
// the negative log probability that it spells its targets, after repeated classes are merged and blanks are
// removed. logProbabilities are [S, N, C]; every sequence has S steps. targets are i64 [N, L]; L is a constant.
// lengths, i64 [N], are the numbers of valid targets in each row. The mean divides each loss by its length, or by 1
// if the length is 0. If a sequence cannot spell its targets, its loss is about 1e30. blank is the index of the
// blank among the C classes.
func CTC(logProbabilities, targets, lengths Value, blank int, options ...LossOption) Value {
	n, length := targets.Dim(0), targets.Dim(1).Int()
	targets, lengths = spelled(targets, lengths, logProbabilities.Dim(2))
	const never = -1e30
	// Blanks stand between and around the targets: [N, 2L+1].
	places := 2*length + 1
	extended := FullOf(I64, float64(blank), n, places)
	if length > 0 {
		between := FullOf(I64, float64(blank), n, length)
		extended = Concat(1, Stack(2, between, targets).Flatten(1, 2), FullOf(I64, float64(blank), n, 1))
	}
	d := logProbabilities.DType()
	// A path may skip a blank that stands between two different targets.
	skips := FullOf(Bool, 0, n, places)
	if places > 2 {
		same := extended.Narrow(1, 2, places-2).Equal(extended.Narrow(1, 0, places-2))
		skips = Concat(1, FullOf(Bool, 0, n, 2), same.Or(extended.Narrow(1, 2, places-2).Equal(blank)).Not())
	}
	shifted := func(a Value, by int) Value {
		return Concat(1, FullOf(d, never, n, min(by, places)), a.Narrow(1, 0, max(places-by, 0)))
	}
	start := Where(Arange(places).LessEqual(1), 0, FullOf(d, never, n, places))
	first := logProbabilities.SelectDim(0, 0).Gather(1, extended)
	alpha := start.Add(first)
	rest := logProbabilities.Slice(R(1, End))
	alpha, _ = Scan(rest, alpha, func(a, row Value) (Value, Value) {
		reach := Stack(2, a, shifted(a, 1), Where(skips, shifted(a, 2), never))
		a = reach.LogSumExp(2).Squeeze(2).Add(row.Gather(1, extended)).ClampMin(never)
		return a, a.Narrow(1, 0, 1)
	})
	last := lengths.Mul(2).Unsqueeze(1)
	ends := Concat(1, alpha.Gather(1, last), Where(last.Greater(0), alpha.Gather(1, last.Sub(1).Clamp(0, math.Inf(1))), never))
	loss := ends.LogSumExp(1).Squeeze(1).Neg()
	l := losing(options)
	if l.reduction == "mean" {
		return loss.Div(lengths.Cast(d).ClampMin(1)).Mean()
	}
	return l.reduce(loss)
}

// RNNT returns the loss of a recurrent neural network transducer (Graves, Sequence transduction with recurrent neural
// networks, 2012). The loss is the negative log probability that the transducer emits targets, i64 [N, U].
// logProbabilities are [N, T, U+1, C]. At each of T steps the transducer emits any number of targets, and then a
// blank. blank is its index among the C classes. Both steps and lengths are i64 [N]. steps[n], from 1 to T, is the
// number of steps of batch element n. lengths[n], from 0 to U, is its number of targets. The model returns an error
// when it runs if an element of steps or lengths is out of range.
func RNNT(logProbabilities, targets, steps, lengths Value, blank int, options ...LossOption) Value {
	x, d := logProbabilities, logProbabilities.DType()
	if x.Rank() != 4 || targets.Rank() != 2 || !x.Dim(2).Equal(targets.Dim(1).Add(1)) {
		fail("%s with targets %s, [N,T,U+1,C] and [N,U] expected", x.typ(), targets.typ())
	}
	n, places := x.Dim(0), x.Dim(2)
	targets, lengths = spelled(targets, lengths, x.Dim(3))
	last := steps.Sub(1).oneOf(x.Dim(1), "last step", "steps")
	// Log probabilities, [T, N, U+1], of blank at each step and position, and of emitting all
	// targets before a position within that step.
	stop := x.Select(3, Of(blank)).Transpose(0, 1)
	at := targets.Unsqueeze(1).Unsqueeze(3).Expand(n, x.Dim(1), targets.Dim(1), 1)
	emit := x.Narrow(2, 0, targets.Dim(1)).Gather(3, at).Squeeze(3).Transpose(0, 1)
	before := Concat(2, FullOf(d, 0, x.Dim(1), n, 1), emit.CumSum(2))
	place := Arange(places)
	reached := place.Unsqueeze(0).LessEqual(place.Unsqueeze(1)) // [to, from]
	const never = -1e30
	rows := Stack(3, stop.Slice(R(0, -1)), before.Slice(R(1, End)))
	first := before.SelectDim(0, 0)
	_, rest := Scan(rows, first, func(a, row Value) (Value, Value) {
		stop, before := row.SelectDim(2, 0), row.SelectDim(2, 1)
		from := a.Add(stop).Sub(before).Unsqueeze(1)
		a = Where(reached, from, never).LogSumExp(2).Squeeze(2).Add(before)
		return a, a
	})
	all := Concat(0, first.Unsqueeze(0), rest).Add(stop)
	ends := all.GatherND(Stack(1, last, Arange(n), lengths))
	return losing(options).reduce(ends.Neg())
}
