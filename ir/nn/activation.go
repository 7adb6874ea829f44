package nn

import "github.com/burngen/burngen/ir/op"

// ReLU returns max(x, 0).
func ReLU(x Value) Value { return one(op.Relu{}, x) }

// ReLU6 returns x clamped to [0, 6].
func ReLU6(x Value) Value { return x.Clamp(0, 6) }

// LeakyReLU returns x where x ≥ 0, else slope·x.
func LeakyReLU(x Value, slope float64) Value { return one(op.LeakyRelu{Alpha: slope}, x) }

// GELU returns x·(1 + erf(x/√2))/2.
func GELU(x Value) Value { return one(op.Gelu{}, x) }

// GELUTanh returns the tanh approximation of [GELU].
func GELUTanh(x Value) Value { return one(op.Gelu{Tanh: true}, x) }

// Sigmoid returns 1/(1 + e^(−x)).
func Sigmoid(x Value) Value { return one(op.Sigmoid{}, x) }

// LogSigmoid returns the natural logarithm of [Sigmoid].
func LogSigmoid(x Value) Value { return one(op.Softplus{}, x.Neg()).Neg() }

// Tanh returns the hyperbolic tangent of x.
func Tanh(x Value) Value { return x.Tanh() }

// SiLU returns x·sigmoid(x), also called Swish.
func SiLU(x Value) Value { return one(op.Swish{Alpha: 1}, x) }

// Mish returns x·tanh(softplus(x)).
func Mish(x Value) Value { return one(op.Mish{}, x) }

// ELU returns x where x ≥ 0, else alpha·(e^x − 1).
func ELU(x Value, alpha float64) Value { return one(op.Elu{Alpha: alpha}, x) }

// CELU returns x where x ≥ 0, else alpha·(e^(x/alpha) − 1).
func CELU(x Value, alpha float64) Value { return one(op.Celu{Alpha: alpha}, x) }

// SELU returns the self-normalising [ELU] of Klambauer and others (2017).
func SELU(x Value) Value {
	return one(op.Selu{Alpha: 1.6732632423543772848170429916717, Gamma: 1.0507009873554804934193349852946}, x)
}

// Softplus returns log(1 + e^(beta·x))/beta.
func Softplus(x Value, beta float64) Value { return one(op.Softplus{}, x.Mul(beta)).Div(beta) }

// Softsign returns x/(1 + |x|).
func Softsign(x Value) Value { return one(op.Softsign{}, x) }

// HardSigmoid returns x/6 + 1/2 clamped to [0, 1].
func HardSigmoid(x Value) Value {
	return one(op.HardSigmoid{Alpha: float64(float32(1. / 6)), Beta: 0.5}, x)
}

// HardSwish returns x times [HardSigmoid] of x.
func HardSwish(x Value) Value { return one(op.HardSwish{}, x) }

// HardTanh returns x clamped to [lo, hi].
func HardTanh(x Value, lo, hi float64) Value { return x.Clamp(lo, hi) }

// Shrink returns x + bias where x < −lambda, x − bias where x > lambda, and 0 elsewhere.
func Shrink(x Value, lambda, bias float64) Value {
	return one(op.Shrink{Bias: bias, Lambda: lambda}, x)
}

// HardShrink returns x where |x| > lambda, else 0.
func HardShrink(x Value, lambda float64) Value { return Shrink(x, lambda, 0) }

// SoftShrink moves x toward 0 by lambda. It returns 0 where |x| ≤ lambda.
func SoftShrink(x Value, lambda float64) Value { return Shrink(x, lambda, lambda) }

// TanhShrink returns x − tanh x.
func TanhShrink(x Value) Value { return x.Sub(x.Tanh()) }

// Threshold returns x where x > threshold, else value.
func Threshold(x Value, threshold, value float64) Value { return Where(x.Greater(threshold), x, value) }

// ThresholdedReLU returns x where x > alpha, else 0.
func ThresholdedReLU(x Value, alpha float64) Value { return one(op.ThresholdedRelu{Alpha: alpha}, x) }

// PReLU returns x where x ≥ 0, and slope·x elsewhere. slope has one element, or one for each channel (axis 1).
func PReLU(x, slope Value) Value {
	if x.Rank() > 2 && slope.Rank() == 1 {
		slope = perChannel(slope, x.Rank())
	}
	return one(op.PRelu{}, x, slope)
}

// RReLU returns [LeakyReLU] with the slope (lower + upper)/2. This is the randomized ReLU in inference.
func RReLU(x Value, lower, upper float64) Value { return LeakyReLU(x, (lower+upper)/2) }

// GLU splits x into two halves along an axis. It returns the first half times the [Sigmoid] of the second half.
func GLU(x Value, axis int) Value {
	a, b := halves(x, axis)
	return a.Mul(Sigmoid(b))
}

func halves(x Value, axis int) (a, b Value) {
	axis = x.axis(axis)
	half := x.Dim(axis).Div(2)
	if !half.Mul(2).Equal(x.Dim(axis)) {
		fail("axis %d has extent %s, which has no half", axis, x.Dim(axis))
	}
	return x.Narrow(axis, 0, half), x.Narrow(axis, half, half)
}

// Softmax returns e^x divided by its sum along an axis.
func Softmax(x Value, axis int) Value { return one(op.Softmax{Axis: x.axis(axis)}, x) }

// LogSoftmax returns the natural logarithm of [Softmax].
func LogSoftmax(x Value, axis int) Value { return one(op.LogSoftmax{Axis: x.axis(axis)}, x) }

// Softmin returns [Softmax] of −x.
func Softmin(x Value, axis int) Value { return Softmax(x.Neg(), axis) }

// QuietSoftmax returns e^x / (1 + Σ e^x), with the sum along an axis. If all elements are very negative, the results
// are near 0. A head of attention with such scores attends to no key.
func QuietSoftmax(x Value, axis int) Value {
	greatest := x.Max(axis).ClampMin(0)
	e := x.Sub(greatest).Exp()
	return e.Div(e.Sum(axis).Add(greatest.Neg().Exp()))
}

// Activation is a function of one value, such as [ReLU] or [GELU]. Some layers take one as an option.
type Activation func(Value) Value

// perChannel reshapes x so that it broadcasts to a value of the given rank. x has one element for each channel
// (axis 1).
func perChannel(x Value, rank int) Value {
	shape := []Extent{x.Dim(0)}
	for range rank - 2 {
		shape = append(shape, 1)
	}
	return x.Reshape(shape...)
}
