package nn

import "github.com/burngen/burngen/ir/op"

// ReLU is x where it is not negative, else 0.
func ReLU(x Value) Value { return one(op.Relu{}, x) }

// ReLU6 is x limited to 0…6.
func ReLU6(x Value) Value { return x.Clamp(0, 6) }

// LeakyReLU is x where it is not negative, else slope·x.
func LeakyReLU(x Value, slope float64) Value { return one(op.LeakyRelu{Alpha: slope}, x) }

// GELU is x·(1 + erf(x/√2))/2.
func GELU(x Value) Value { return one(op.Gelu{}, x) }

// GELUTanh is the approximation of [GELU] by a hyperbolic tangent.
func GELUTanh(x Value) Value { return one(op.Gelu{Tanh: true}, x) }

// Sigmoid is 1/(1 + e^(−x)).
func Sigmoid(x Value) Value { return one(op.Sigmoid{}, x) }

// LogSigmoid is the logarithm of [Sigmoid].
func LogSigmoid(x Value) Value { return one(op.Softplus{}, x.Neg()).Neg() }

// Tanh is the hyperbolic tangent of x.
func Tanh(x Value) Value { return x.Tanh() }

// SiLU is x/(1 + e^(−x)).
func SiLU(x Value) Value { return one(op.Swish{Alpha: 1}, x) }

// Mish is x·tanh(log(1 + e^x)).
func Mish(x Value) Value { return one(op.Mish{}, x) }

// ELU is x where it is not negative, else alpha·(e^x − 1).
func ELU(x Value, alpha float64) Value { return one(op.Elu{Alpha: alpha}, x) }

// CELU is x where it is not negative, else alpha·(e^(x/alpha) − 1).
func CELU(x Value, alpha float64) Value { return one(op.Celu{Alpha: alpha}, x) }

// SELU is the self-normalising [ELU] of Klambauer and others (2017).
func SELU(x Value) Value {
	return one(op.Selu{Alpha: 1.6732632423543772848170429916717, Gamma: 1.0507009873554804934193349852946}, x)
}

// Softplus is log(1 + e^(beta·x))/beta.
func Softplus(x Value, beta float64) Value { return one(op.Softplus{}, x.Mul(beta)).Div(beta) }

// Softsign is x/(1 + |x|).
func Softsign(x Value) Value { return one(op.Softsign{}, x) }

// HardSigmoid is x/6 + 1/2 limited to 0…1.
func HardSigmoid(x Value) Value {
	return one(op.HardSigmoid{Alpha: float64(float32(1. / 6)), Beta: 0.5}, x)
}

// HardSwish is x times [HardSigmoid].
func HardSwish(x Value) Value { return one(op.HardSwish{}, x) }

// HardTanh is x limited to lo…hi.
func HardTanh(x Value, lo, hi float64) Value { return x.Clamp(lo, hi) }

// Shrink is x + bias below −lambda, x − bias above lambda, and 0 between.
func Shrink(x Value, lambda, bias float64) Value {
	return one(op.Shrink{Bias: bias, Lambda: lambda}, x)
}

// HardShrink is x, and 0 from −lambda to lambda.
func HardShrink(x Value, lambda float64) Value { return Shrink(x, lambda, 0) }

// SoftShrink is x moved by lambda toward 0, and 0 from −lambda to lambda.
func SoftShrink(x Value, lambda float64) Value { return Shrink(x, lambda, lambda) }

// TanhShrink is x − tanh x.
func TanhShrink(x Value) Value { return x.Sub(x.Tanh()) }

// Threshold is x where it is greater than a threshold, else value.
func Threshold(x Value, threshold, value float64) Value { return Where(x.Greater(threshold), x, value) }

// ThresholdedReLU is x where it is greater than alpha, else 0.
func ThresholdedReLU(x Value, alpha float64) Value { return one(op.ThresholdedRelu{Alpha: alpha}, x) }

// PReLU is x where it is not negative, else slope·x; the slope is one number, or one for
// each channel, axis 1.
func PReLU(x, slope Value) Value {
	if x.Rank() > 2 && slope.Rank() == 1 {
		slope = perChannel(slope, x.Rank())
	}
	return one(op.PRelu{}, x, slope)
}

// RReLU is [LeakyReLU] of the mean of two slopes, as in evaluation.
func RReLU(x Value, lower, upper float64) Value { return LeakyReLU(x, (lower+upper)/2) }

// GLU is the first half of x along an axis times [Sigmoid] of the second.
func GLU(x Value, axis int) Value {
	a, b := halves(x, axis)
	return a.Mul(Sigmoid(b))
}

// halves splits an axis in two.
func halves(x Value, axis int) (a, b Value) {
	axis = x.axis(axis)
	half := x.Dim(axis).Div(2)
	if !half.Mul(2).Equal(x.Dim(axis)) {
		fail("axis %d has extent %s, which has no half", axis, x.Dim(axis))
	}
	return x.Narrow(axis, 0, half), x.Narrow(axis, half, half)
}

// Softmax scales e^x to sum to 1 along an axis.
func Softmax(x Value, axis int) Value { return one(op.Softmax{Axis: x.axis(axis)}, x) }

// LogSoftmax is the logarithm of [Softmax].
func LogSoftmax(x Value, axis int) Value { return one(op.LogSoftmax{Axis: x.axis(axis)}, x) }

// Softmin is [Softmax] of −x.
func Softmin(x Value, axis int) Value { return Softmax(x.Neg(), axis) }

// QuietSoftmax is e^x divided by 1 plus its sum along an axis: nothing is attended to
// where all are very negative.
func QuietSoftmax(x Value, axis int) Value {
	greatest := x.Max(axis).ClampMin(0)
	e := x.Sub(greatest).Exp()
	return e.Div(e.Sum(axis).Add(greatest.Neg().Exp()))
}

// Activation is a function of one value, which layers take: [ReLU], [GELU] and so on.
type Activation func(Value) Value

// perChannel gives a vector of channels the rank of what it is combined with, where they
// are axis 1.
func perChannel(x Value, rank int) Value {
	shape := []Extent{x.Dim(0)}
	for range rank - 2 {
		shape = append(shape, 1)
	}
	return x.Reshape(shape...)
}
