package portable

import (
	"math"
	"math/big"
)

// Parts of π/2, whose sum is more precise than a float64. Each part holds the bits that follow the bits of the part
// before it.
const (
	halfPi1 = math.Pi / 2
	halfPi2 = 6.12323399573676588613e-17
	halfPi3 = -1.49738490485916983e-33
)

// sinSeries and cosSeries hold the coefficients of sin x / x and of cos x as polynomials in x². The highest power
// comes first.
var sinSeries, cosSeries = func() (sin, cos []float64) {
	const terms = 11
	f := 1.0
	for n := range terms {
		cos = append([]float64{1 / f}, cos...)
		f *= float64(2*n + 1)
		sin = append([]float64{1 / f}, sin...)
		f *= -float64(2*n + 2)
	}
	return sin, cos
}()

// quarter writes x as r + n·π/2, where n is an integer and |r| is at most π/4. It returns r, and turns, which is n
// modulo 4.
func quarter(x float64) (r float64, turns int) {
	if math.Abs(x) > 1<<30 {
		return bigQuarter(x)
	}
	k := math.RoundToEven(x / halfPi1)
	r = math.FMA(-k, halfPi3, math.FMA(-k, halfPi2, math.FMA(-k, halfPi1, x)))
	return r, int(int64(k) & 3)
}

// piBits is a number of bits after the point of π. It is large enough to reduce every float64 modulo π/2.
const piBits = 1200

// halfPi returns π/2 · 2^piBits, by Machin's formula π/4 = 4·atan(1/5) − atan(1/239).
var halfPi = func() *big.Int {
	pi := arccot(5)
	pi.Lsh(pi, 2)
	pi.Sub(pi, arccot(239))
	return pi.Lsh(pi, 1)
}

// arccot returns atan(1/n) · 2^piBits.
func arccot(n int64) *big.Int {
	power := new(big.Int).Lsh(big.NewInt(1), piBits)
	power.Quo(power, big.NewInt(n))
	sum, square := new(big.Int), big.NewInt(-n*n)
	for i := int64(1); power.Sign() != 0; i += 2 {
		sum.Add(sum, new(big.Int).Quo(power, big.NewInt(i)))
		power.Quo(power, square)
	}
	return sum
}

// bigQuarter is [quarter] for finite numbers of any size. It computes with big integers.
func bigQuarter(x float64) (r float64, turns int) {
	m, exp := math.Frexp(math.Abs(x))
	n := big.NewInt(int64(m * (1 << 53)))
	n.Lsh(n, uint(exp-53+piBits))
	half := halfPi()
	k, rest := new(big.Int).QuoRem(n, half, new(big.Int))
	if twice := new(big.Int).Lsh(rest, 1); twice.Cmp(half) > 0 {
		rest.Sub(rest, half)
		k.Add(k, big.NewInt(1))
	}
	f, _ := new(big.Float).SetMantExp(new(big.Float).SetInt(rest), -piBits).Float64()
	turns = int(k.And(k, big.NewInt(3)).Int64())
	if x < 0 {
		return -f, -turns & 3
	}
	return f, turns
}

// Sin returns the sine of x in radians.
func Sin(x float64) float64 {
	if x == 0 || x-x != 0 {
		return math.Sin(x)
	}
	r, turns := quarter(x)
	return turned(r, turns)
}

// Cos returns the cosine of x in radians.
func Cos(x float64) float64 {
	if x-x != 0 {
		return math.NaN()
	}
	r, turns := quarter(x)
	return turned(r, turns+1)
}

// turned returns sin(r + turns·π/2).
func turned(r float64, turns int) float64 {
	square := float64(r * r)
	y := r * polynomial(sinSeries, square)
	if turns%2 != 0 {
		y = polynomial(cosSeries, square)
	}
	if turns&2 != 0 {
		return -y
	}
	return y
}

// Tan returns the tangent of x in radians.
func Tan(x float64) float64 {
	if x == 0 || x-x != 0 {
		return math.Tan(x)
	}
	r, turns := quarter(x)
	return turned(r, turns) / turned(r, turns+1)
}

// atanSeries holds the coefficients ±1/(2n+1) of atan x / x as a polynomial in x². The highest power comes first.
var atanSeries = func() []float64 {
	const terms = 14
	c := make([]float64, terms)
	sign := 1.0
	for n := range terms {
		c[terms-1-n] = sign / float64(2*n+1)
		sign = -sign
	}
	return c
}()

// Atan returns the angle in radians whose tangent is x.
func Atan(x float64) float64 {
	a := math.Abs(x)
	if a > 1 {
		return math.Copysign(halfPi1-(Atan(1/a)-halfPi2), x)
	}
	for range 2 {
		a /= 1 + math.Sqrt(1+float64(a*a))
	}
	return math.Copysign(4*(a*polynomial(atanSeries, float64(a*a))), x)
}

// Asin returns the angle in radians whose sine is x.
func Asin(x float64) float64 {
	a := math.Abs(x)
	return math.Copysign(Atan(a/math.Sqrt(float64((1-a)*(1+a)))), x)
}

// Acos returns the angle in radians whose cosine is x.
func Acos(x float64) float64 { return 2 * Atan(math.Sqrt((1-x)/(1+x))) }
