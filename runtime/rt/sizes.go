package rt

import (
	"fmt"
	"math"
	"math/bits"
)

// Sizes computes sizes and offsets of symbolic shapes in 64 bits. If an operation overflows or is
// undefined, Err returns an error from then on. The results of this operation and of later ones are
// then meaningless. The zero value is ready to use.
type Sizes struct {
	problem string // description of the first problem, "" without one
	a, b    int64  // operands of the first problem
}

// fail records the first problem and returns 0.
func (z *Sizes) fail(problem string, a, b int64) int64 {
	if z.problem == "" {
		z.problem, z.a, z.b = problem, a, b
	}
	return 0
}

// Add returns a + b, and records an error if it does not fit 64 bits.
func (z *Sizes) Add(a, b int64) int64 {
	if c := a + b; (c > a) == (b > 0) {
		return c
	}
	return z.fail("%d + %d does not fit 64 bits", a, b)
}

// Sub returns a - b, and records an error if it does not fit 64 bits.
func (z *Sizes) Sub(a, b int64) int64 {
	if c := a - b; (c < a) == (b > 0) {
		return c
	}
	return z.fail("%d - %d does not fit 64 bits", a, b)
}

// Mul returns a · b, and records an error if it does not fit 64 bits.
func (z *Sizes) Mul(a, b int64) int64 {
	limit := uint64(math.MaxInt64)
	if (a < 0) != (b < 0) {
		limit++
	}
	if hi, lo := bits.Mul64(magnitude(a), magnitude(b)); hi != 0 || lo > limit {
		return z.fail("%d * %d does not fit 64 bits", a, b)
	}
	return a * b
}

func magnitude(a int64) uint64 {
	if a < 0 {
		return -uint64(a)
	}
	return uint64(a)
}

// Product returns the product of list, or 1 if it is empty.
func (z *Sizes) Product(list ...int64) int64 {
	p := int64(1)
	for _, n := range list {
		p = z.Mul(p, n)
	}
	return p
}

// FloorDiv returns a / b rounded down. If b is 0, it records an error.
func (z *Sizes) FloorDiv(a, b int64) int64 {
	if b == 0 || b == -1 && a == math.MinInt64 {
		return z.fail("%d / %d has no value", a, b)
	}
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

// CeilDiv returns a / b rounded up. If b is 0, it records an error.
func (z *Sizes) CeilDiv(a, b int64) int64 {
	if b == 0 || b == -1 && a == math.MinInt64 {
		return z.fail("%d / %d has no value", a, b)
	}
	q := a / b
	if a%b != 0 && (a < 0) == (b < 0) {
		q++
	}
	return q
}

// Mod returns the remainder a - b·⌊a/b⌋, which is 0 or has the sign of b. If b is 0, it records an
// error.
func (z *Sizes) Mod(a, b int64) int64 {
	if b == 0 {
		return z.fail("%d mod %d has no value", a, b)
	}
	if b == -1 {
		return 0
	}
	r := a % b
	if r != 0 && (r < 0) != (b < 0) {
		r += b
	}
	return r
}

// Min returns the smaller of a and b.
func (z *Sizes) Min(a, b int64) int64 { return min(a, b) }

// Max returns the larger of a and b.
func (z *Sizes) Max(a, b int64) int64 { return max(a, b) }

// Align returns the smallest multiple of unit that is at least n. If unit is not positive, it records
// an error.
func (z *Sizes) Align(n, unit int64) int64 {
	if unit <= 0 {
		return z.fail("%d aligned to %d has no value", n, unit)
	}
	return z.Mul(z.CeilDiv(n, unit), unit)
}

// Int returns n, an extent, length or offset, as an int. If n is negative or does not fit, it
// records an error and returns 0.
func (z *Sizes) Int(n int64) int {
	if n < 0 {
		return int(z.fail("%[2]d is negative", n, 0))
	}
	if n > math.MaxInt {
		return int(z.fail("%[2]d does not fit an int", n, 0))
	}
	return int(n)
}

// Fits records an error if a number in list does not fit an int.
func (z *Sizes) Fits(list ...int64) {
	for _, n := range list {
		if int64(int(n)) != n {
			z.fail("%[2]d does not fit an int", n, 0)
		}
	}
}

// Err returns the first recorded error as "where: …", or nil.
func (z *Sizes) Err(where string) error {
	if z.problem == "" {
		return nil
	}
	return fmt.Errorf("%s: sizes: "+z.problem, where, z.a, z.b)
}
