package elementary

import (
	"math"
	"math/big"
)

// piBits are the bits behind the point that π needs for every float64.
const piBits = 1300

// halfPiDigits is π/2·2^piBits, by Machin's formula π/4 = 4·acot 5 − acot 239.
var halfPiDigits = func() *big.Int {
	acot := func(n int64) *big.Int {
		power := new(big.Int).Lsh(big.NewInt(1), piBits)
		power.Quo(power, big.NewInt(n))
		sum, square := new(big.Int), big.NewInt(-n*n)
		for i := int64(1); power.Sign() != 0; i += 2 {
			sum.Add(sum, new(big.Int).Quo(power, big.NewInt(i)))
			power.Quo(power, square)
		}
		return sum
	}
	pi := acot(5)
	pi.Lsh(pi, 2)
	pi.Sub(pi, acot(239))
	return pi.Lsh(pi, 1)
}()

// reduce returns the rest of a finite x after as many quarter turns as leave the least, and their
// number modulo 4.
func reduce(x float64) (r float64, turns int) {
	m, e := math.Frexp(x)
	n := big.NewInt(int64(m * (1 << 53)))
	if shift := e - 53 + piBits; shift >= 0 {
		n.Lsh(n, uint(shift))
	} else {
		return x, 0
	}
	half := new(big.Int).Rsh(halfPiDigits, 1)
	k, rest := new(big.Int).DivMod(new(big.Int).Add(n, half), halfPiDigits, new(big.Int))
	rest.Sub(rest, half)
	r, _ = new(big.Float).SetMantExp(new(big.Float).SetInt(rest), -piBits).Float64()
	return r, int(k.And(k, big.NewInt(3)).Int64())
}

// turned returns sin(x + quarters·π/2).
func turned(x float64, quarters int) float64 {
	if x == 0 && quarters == 0 || x-x != 0 {
		return math.Sin(x)
	}
	r, turns := reduce(x)
	turns += quarters
	y := math.Sin(r)
	if turns&1 != 0 {
		y = math.Cos(r)
	}
	if turns&2 != 0 {
		return -y
	}
	return y
}

func sine(x float64) float64   { return turned(x, 0) }
func cosine(x float64) float64 { return turned(x, 1) }

func tangent(x float64) float64 {
	if x == 0 || x-x != 0 {
		return math.Tan(x)
	}
	return sine(x) / cosine(x)
}

// power returns x^(n/4) for x > 0.
func power(x float64, n int) float64 {
	const digits = 200
	root := new(big.Float).SetPrec(digits).SetFloat64(x)
	root.Sqrt(root)
	root.Sqrt(root)
	p := new(big.Float).SetPrec(digits).SetInt64(1)
	for m := max(n, -n); m > 0; m >>= 1 {
		if m&1 != 0 {
			p.Mul(p, root)
		}
		root.Mul(root, root)
	}
	if n < 0 {
		p.Quo(new(big.Float).SetInt64(1), p)
	}
	y, _ := p.Float64()
	return y
}
