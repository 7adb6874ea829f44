package elementary

import "github.com/burngen/burngen/ir/kernel"

var (
	// logNormal approximates log₂ of the standard normal distribution function at −x, for 0 ≤ x ≤ 12.9. The error is at
	// most 2.4e-5.
	logNormal = []float64{
		-1.000023949, -1.15107847, -0.4585762307, -0.05413946616, 0.008744714846, -0.00103948666, 8.624010847e-05,
		-4.674952415e-06, 1.478041612e-07, -2.058074009e-09,
	}
	// exp2 approximates 2^x for |x| ≤ 1/2.
	exp2 = []float64{0.9999992614, 0.6931218147, 0.2402474483, 0.05591786032, 0.009570101908}
)

// NarrowGelu returns gelu(x) = x·[Normal](x) of an f32, for results that are stored as f16 or bf16. The relative
// error is at most 2⁻¹⁵ if the result is at least 2⁻¹⁰⁰ in magnitude. NarrowGelu takes a third of the instructions
// of [Normal], and no division.
func NarrowGelu(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	c := on(b, x)
	const most = 12.9 // the distribution function at −most is about 2⁻¹²⁵
	down := c.atLeast(c.num(-most), x)
	s := c.horner(c.atMost(c.num(most), c.Abs(down)), logNormal)
	// The sum with this number has the bits of the integer next to s.
	integer := c.num(3 << 22)
	sum := c.Add(s, integer)
	p := c.horner(c.Sub(s, c.Sub(sum, integer)), exp2)
	bits := c.Add(c.Bitcast(c.unsigned, p), c.Binary(kernel.Shl, c.Bitcast(c.unsigned, sum), c.Whole(c.unsigned, int64(c.fraction))))
	y := c.Bitcast(c.d, bits)
	return c.Mul(down, c.Select(c.Lt(x, c.num(0)), y, c.Sub(c.num(1), y)))
}
