package portable

import "math"

// Sinh returns the hyperbolic sine of x.
func Sinh(x float64) float64 {
	a := math.Abs(x)
	if a > 40 {
		half := Exp(a / 2) // the square of half may be twice too large for a float64
		return math.Copysign(half/2*half, x)
	}
	if x == 0 {
		return x
	}
	t := Expm1(a)
	return math.Copysign((t+t/(t+1))/2, x)
}

// Cosh returns the hyperbolic cosine of x.
func Cosh(x float64) float64 {
	a := math.Abs(x)
	if a > 40 {
		half := Exp(a / 2)
		return half / 2 * half
	}
	e := Exp(a)
	return (e + 1/e) / 2
}

// Tanh returns the hyperbolic tangent of x.
func Tanh(x float64) float64 {
	a := math.Abs(x)
	if a > 22 {
		return math.Copysign(1, x)
	}
	if x == 0 {
		return x
	}
	t := Expm1(2 * a)
	return math.Copysign(t/(t+2), x)
}

// large is a bound: for x above it, x² + 1 equals x² in float64.
const large = 1 << 28

// Asinh returns the inverse hyperbolic sine of x.
func Asinh(x float64) float64 {
	a := math.Abs(x)
	if a > large {
		return math.Copysign(Log(a)+math.Ln2, x)
	}
	square := float64(a * a)
	return math.Copysign(Log1p(a+square/(1+math.Sqrt(1+square))), x)
}

// Acosh returns the inverse hyperbolic cosine of x, NaN below 1.
func Acosh(x float64) float64 {
	switch {
	case x < 1:
		return math.NaN()
	case x > large:
		return Log(x) + math.Ln2
	}
	t := x - 1
	return Log1p(t + math.Sqrt(float64(t*t)+float64(2*t)))
}

// Atanh returns the inverse hyperbolic tangent of x.
func Atanh(x float64) float64 {
	a := math.Abs(x)
	return math.Copysign(Log1p(2*a/(1-a))/2, x)
}
