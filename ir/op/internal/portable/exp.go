package portable

import "math"

// ln2Hi + ln2Lo is ln 2. ln2Hi has so few bits that its product with any exponent of a float64 is exact.
const (
	ln2Hi = 6.93147180369123816490e-01
	ln2Lo = 1.90821492927058770002e-10
)

// expSeries holds the coefficients 1/n! of the powers xⁿ in e^x, for n ≥ 2. The highest power comes first.
var expSeries = func() []float64 {
	const last = 17
	c := make([]float64, last-1)
	f := 1.0
	for n := 2; n <= last; n++ {
		f *= float64(n)
		c[last-n] = 1 / f
	}
	return c
}()

// polynomial evaluates coefficients, highest first, at x.
func polynomial(coefficients []float64, x float64) float64 {
	var p float64
	for _, c := range coefficients {
		p = math.FMA(p, x, c)
	}
	return p
}

// small is a bound: for |x| below it, Expm1 uses the series of e^x − 1.
const small = 0.35

// Exp returns e^x.
func Exp(x float64) float64 {
	switch {
	case x != x:
		return x
	case x > 710:
		return math.Inf(1)
	case x < -746:
		return 0
	}
	k := math.RoundToEven(x / math.Ln2)
	r := math.FMA(-k, ln2Lo, math.FMA(-k, ln2Hi, x))
	return math.Ldexp(1+expm1Series(r), int(k))
}

func expm1Series(x float64) float64 {
	return math.FMA(float64(x*x), polynomial(expSeries, x), x)
}

// Expm1 returns e^x − 1.
func Expm1(x float64) float64 {
	if math.Abs(x) < small {
		if x == 0 {
			return x
		}
		return expm1Series(x)
	}
	return Exp(x) - 1
}

// logSeries holds the coefficients 2/(2n+1) of log((1+s)/(1−s)) = 2s + 2s³/3 + …. The highest power comes first.
var logSeries = func() []float64 {
	const terms = 13
	c := make([]float64, terms)
	for n := range terms {
		c[terms-1-n] = 2 / float64(2*n+1)
	}
	return c
}()

// logRatio returns log((1+s)/(1−s)) for |s| ≤ 0.18.
func logRatio(s float64) float64 { return s * polynomial(logSeries, float64(s*s)) }

// Log returns the natural logarithm of x.
func Log(x float64) float64 {
	switch {
	case x != x || x > math.MaxFloat64:
		return x
	case x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	}
	m, exp := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, exp = 2*m, exp-1
	}
	k := float64(exp)
	return math.FMA(k, ln2Hi, math.FMA(k, ln2Lo, logRatio((m-1)/(m+1))))
}

// Log1p returns log(1 + x).
func Log1p(x float64) float64 {
	if x > -0.29 && x < 0.41 {
		if x == 0 {
			return x
		}
		return logRatio(x / (2 + x))
	}
	return Log(1 + x)
}

// Pow returns x to the power y.
func Pow(x, y float64) float64 {
	whole := y == math.Trunc(y)
	switch {
	case x == 0 || y == 0 || x-x != 0 || y-y != 0: // zeros, infinities and NaN
		return math.Pow(x, y)
	case x < 0 && !whole:
		return math.NaN()
	case whole && math.Abs(y) <= 64:
		return intPow(x, int(y))
	case y == 0.5:
		return math.Sqrt(x)
	}
	p := Exp(y * Log(math.Abs(x)))
	if x < 0 && math.Mod(y, 2) != 0 {
		return -p
	}
	return p
}

func intPow(x float64, n int) float64 {
	p := 1.0
	for m := max(n, -n); m > 0; m /= 2 {
		if m%2 != 0 {
			p *= x
		}
		x *= x
	}
	if n < 0 {
		return 1 / p
	}
	return p
}
