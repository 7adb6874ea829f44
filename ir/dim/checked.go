package dim

import (
	"math"
	"math/bits"
)

func checked(n int64, ok bool) Dim {
	if !ok {
		return poison(overflow)
	}
	return Dim{c: n}
}

func add64(a, b int64) (int64, bool) {
	s := a + b
	return s, (s > a) == (b > 0)
}

func sub64(a, b int64) (int64, bool) {
	s := a - b
	return s, (s < a) == (b > 0)
}

func mul64(a, b int64) (int64, bool) {
	hi, lo := bits.Mul64(magnitude(a), magnitude(b))
	if (a < 0) != (b < 0) {
		return -int64(lo), hi == 0 && lo <= 1<<63
	}
	return int64(lo), hi == 0 && lo < 1<<63
}

func floor64(a, b int64) (int64, bool) {
	n := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		n--
	}
	return n, a != math.MinInt64 || b != -1
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

func satNeg(a int64) int64 {
	switch a {
	case negInf:
		return posInf
	case posInf:
		return negInf
	}
	return -a
}

// satAdd adds two lower or two upper bounds. inf is the unknown bound on that side, negInf or posInf. The sum is inf if
// a or b is inf. A sum that overflows becomes negInf or posInf, whichever is nearer.
func satAdd(a, b, inf int64) int64 {
	if a == inf || b == inf {
		return inf
	}
	if s, ok := add64(a, b); ok {
		return s
	}
	if a < 0 {
		return negInf
	}
	return posInf
}

// satMul multiplies two bounds. If one of them is 0, the result is 0. Otherwise, if one is negInf or posInf, or the
// product overflows, the result is negInf or posInf, whichever has the sign of the product.
func satMul(a, b int64) int64 {
	if a == 0 || b == 0 {
		return 0
	}
	n, ok := mul64(a, b)
	if ok && a != negInf && a != posInf && b != negInf && b != posInf {
		return n
	}
	if (a < 0) != (b < 0) {
		return negInf
	}
	return posInf
}
