package portable

import "math"

// Erf returns the error function of x.
func Erf(x float64) float64 {
	a := math.Abs(x)
	if a < 2 {
		return math.Copysign(erfSeries(a), x)
	}
	return math.Copysign(1-Erfc(a), x)
}

// Erfc returns 1 − Erf(x). It is accurate even where the result is near 0.
func Erfc(x float64) float64 {
	switch {
	case x < 1:
		return 1 - Erf(x)
	case x > 28:
		return 0
	}
	return erfcFraction(x)
}

// gauss returns e^(−x²). It corrects the error that rounding x² to a float64 causes.
func gauss(x float64) float64 {
	square := float64(x * x)
	lost := math.FMA(x, x, -square)
	return Exp(-square) * (1 - lost)
}

// erfSeries returns the sum of the series 2/√π·e^(−x²)·(x + 2x³/3 + 4x⁵/15 + …). For positive x all terms are
// positive.
func erfSeries(x float64) float64 {
	square := float64(x * x)
	term, sum := x, x
	for n := 1; term > sum*0x1p-55; n++ {
		term *= 2 * square / float64(2*n+1)
		sum += term
	}
	return 2 / math.SqrtPi * gauss(x) * sum
}

// erfcFraction returns e^(−x²)/(√π·f), where f is the continued fraction x + (1/2)/(x + (2/2)/(x + (3/2)/(x + …))),
// for x ≥ 1. It evaluates f from the innermost term. The number of terms depends on x: a larger x needs fewer.
func erfcFraction(x float64) float64 {
	f := x
	for n := int(200/float64(x*x)) + 10; n > 0; n-- {
		f = x + float64(n)/2/f
	}
	return gauss(x) / math.SqrtPi / f
}
