package elementary

import (
	"math"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// sinTail, cosTail and tanTail approximate (sin r − r)/r³, (cos r − 1 + r²/2)/r⁴ and (tan r − r)/r³ for |r| ≤ π/4.
// All are polynomials in r².
var (
	sinTail = series{
		f32: []float64{-0.1666665446, 0.008332151383, -0.0001951398577},
		f64: []float64{
			-0.166666666666666666, 0.00833333333333332224, -0.000198412698412544932, 2.75573192139035891e-6,
			-2.50521048392636938e-8, 1.60583576670492296e-10, -7.57826426198487306e-13,
		},
	}
	cosTail = series{
		f32: []float64{0.04166664542, -0.001388730348, 2.443167211e-5},
		f64: []float64{
			0.0416666666666665911, -0.00138888888888727338, 0.0000248015872886446554,
			-2.75573141179693539e-7, 2.08756923101928839e-9, -1.13580850978198408e-11,
		},
	}
	tanTail = series{
		f32: []float64{
			0.333333503, 0.1333264368, 0.05406222324, 0.02126988668, 0.01086865998, 4.673006974e-5, 0.004397941645,
		},
		f64: []float64{
			0.333333333333404733, 0.133333333324275164, 0.0539682543690315074, 0.0218694796292798845,
			0.00886335189924003368, 0.00359115517320711915, 0.00146129798427829975, 0.000568871764092212668,
			0.00029608964128778579, -8.74930796833530684e-6, 0.000169956025122581272,
			-0.0000838868952931793194, 0.0000451567781931906269,
		},
	}
)

// halfPiParts are floats that add up to π/2, in order of decreasing magnitude. Each part but the last has few bits:
// its product with an integer is exact if the integer is at most 2¹⁰ for f32, and 2²⁰ for f64.
var halfPiParts = series{
	f32: []float64{0x1.9218p+0, 0x1.ed5p-14, 0x1.10bp-30, 0x1.18469898cc517p-44},
	f64: []float64{0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2e037073p-69},
}

func (c calc) halfPi() pair { return c.constant(math.Pi/2, 6.123233995736766e-17) }

// quarter writes x as r + turns·π/2 with |r| ≤ π/4, for finite x ≥ 0. turns is an i32, of which only the value
// modulo 4 is right.
func (c calc) quarter(x *kernel.Value) (r, turns *kernel.Value) {
	out := c.If(c.Lt(x, c.limit(1<<10, 1<<20)),
		func() []*kernel.Value { return c.nearQuarter(x) },
		func() []*kernel.Value { return c.farQuarter(x) })
	return out[0], out[1]
}

// nearQuarter returns r and turns as [calc.quarter] does, for x below 2¹⁰ in f32 and below 2²⁰ in f64. It multiplies
// turns by each of [halfPiParts], and subtracts the products from x, one after the other.
func (c calc) nearQuarter(x *kernel.Value) []*kernel.Value {
	k := c.Unary(kernel.Round, c.Mul(x, c.num(2/math.Pi)))
	parts := halfPiParts.of(c)
	r, lost := x, c.num(0)
	for _, part := range parts[:len(parts)-1] {
		turned := c.Mul(k, c.num(part))
		rest := c.Sub(r, turned)
		lost = c.Add(lost, c.Sub(c.Sub(r, rest), turned))
		r = rest
	}
	r = c.Add(r, c.Sub(lost, c.Mul(k, c.num(parts[len(parts)-1]))))
	return []*kernel.Value{r, c.Convert(ir.I32, k)}
}

// twoOverPi holds the digits of 2/π after the point, in base 2³².
var twoOverPi = []uint32{
	0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
	0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
	0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
	0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b,
	0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab, 0xf0cfbc20, 0x9af4361d,
}

// farQuarter returns r and turns as [calc.quarter] does, for x from 2¹⁰ on in f32 and from 2²⁰ on in f64. It
// multiplies the significand of x by digits of 2/π. It leaves out the digits that add multiples of 4 to turns, and
// digits too small to matter (Payne and Hanek, Radian reduction for trigonometric functions, 1983).
func (c calc) farQuarter(x *kernel.Value) []*kernel.Value {
	// x = m·2^e for an integer m of as many digits as are given by limbs.
	bits := c.Bitcast(c.unsigned, x)
	field := c.Convert(ir.I32, c.Binary(kernel.Shr, bits, c.Whole(c.unsigned, int64(c.fraction))))
	e := c.Sub(field, c.Int(c.bias+c.fraction))
	m := c.Convert(ir.U64, c.Or(c.And(bits, c.Whole(c.unsigned, 1<<c.fraction-1)), c.Whole(c.unsigned, 1<<c.fraction)))
	limbs := c.d.Bits() / 32
	significand := []*kernel.Value{c.low32(m), c.high32(m)}[:limbs]

	// Digits of weight 4 and more do not count: begin offset bits behind the point. Zeros in front keep
	// the offset positive.
	table := append(make([]uint32, limbs), twoOverPi[:len(twoOverPi)*(3*limbs-2)/4]...)
	offset := c.Add(e, c.Int(32*limbs-2))
	results := 2 * limbs
	window := c.window(table, offset, results+limbs)
	digits := c.fractionOf(significand, window, results)

	// The first two bits count turns, rounded; the rest is a signed fraction of a turn.
	high := c.join(digits[0], digits[1])
	turns := c.Convert(ir.I32, c.shr(c.Add(high, c.Whole(ir.U64, 1<<61)), 62))
	fraction := c.shl(high, 2)
	var below *kernel.Value
	if results > 2 {
		next := c.join(digits[2], digits[3])
		fraction = c.Or(fraction, c.shr(next, 62))
		below = c.shl(next, 2)
	}
	return []*kernel.Value{c.radians(c.Bitcast(ir.I64, fraction), below), turns}
}

// radians returns an angle in radians. fraction is the angle as a signed multiple of 2⁻⁶⁴ quarter turns. low is an
// unsigned multiple of 2⁻¹²⁸ quarter turns, which is added to the angle; nil is 0.
func (c calc) radians(fraction, low *kernel.Value) *kernel.Value {
	hi := c.Convert(c.d, fraction)
	lo := c.Convert(c.d, c.Sub(fraction, c.Convert(ir.I64, hi)))
	if low != nil {
		lo = c.Fma(c.Convert(c.d, low), c.num(0x1p-64), lo)
	}
	unit := c.num(0x1p-64)
	r := c.times(pair{c.Mul(hi, unit), c.Mul(lo, unit)}, c.halfPi())
	return r.hi
}

// window returns n digits of a fraction in base 2³², as u64. table holds the digits of the fraction, most
// significant first. The first digit of the result begins `offset` bits after the point.
func (c calc) window(table []uint32, offset *kernel.Value, n int) []*kernel.Value {
	digits := make([]*kernel.Value, len(table))
	for i, digit := range table {
		digits[i] = c.Whole(ir.U32, int64(digit))
	}
	first := c.Binary(kernel.Shr, offset, c.Int(5))
	step := 1
	for step*2+n < len(table) {
		step *= 2
	}
	for ; step > 0; step /= 2 {
		skip := c.Ne(c.And(first, c.Int(step)), c.Int(0))
		for i := range min(n+step, len(digits)-step) {
			digits[i] = c.Select(skip, digits[i+step], digits[i])
		}
		digits = digits[:min(n+step, len(digits))]
	}
	shift := c.Convert(ir.U64, c.And(offset, c.Int(31)))
	out := make([]*kernel.Value, n)
	for i := range out {
		both := c.join(c.Convert(ir.U64, digits[i]), c.Convert(ir.U64, digits[i+1]))
		out[i] = c.high32(c.Binary(kernel.Shl, both, shift))
	}
	return out
}

// fractionOf returns the first n digits after the point of the product x·y, as u64. All digits are in base 2³². x
// holds the digits of an integer, least significant first. y holds the digits of a fraction, most significant
// first. fractionOf leaves out the carries from later digits, so the last digit may be too small.
func (c calc) fractionOf(x, y []*kernel.Value, n int) []*kernel.Value {
	out := make([]*kernel.Value, n)
	var carry *kernel.Value
	for i := n - 1; i >= 0; i-- {
		total := c.Whole(ir.U64, 0)
		if carry != nil {
			total = carry
		}
		for l, digit := range x {
			total = c.Add(total, c.low32(c.Mul(digit, y[i+l])))
			total = c.Add(total, c.high32(c.Mul(digit, y[i+l+1])))
		}
		out[i], carry = c.low32(total), c.high32(total)
	}
	return out
}

func (c calc) low32(x *kernel.Value) *kernel.Value {
	return c.And(x, c.Whole(ir.U64, math.MaxUint32))
}

func (c calc) high32(x *kernel.Value) *kernel.Value { return c.shr(x, 32) }

func (c calc) join(hi, lo *kernel.Value) *kernel.Value { return c.Or(c.shl(hi, 32), lo) }

func (c calc) shl(x *kernel.Value, n int64) *kernel.Value {
	return c.Binary(kernel.Shl, x, c.Whole(ir.U64, n))
}

func (c calc) shr(x *kernel.Value, n int64) *kernel.Value {
	return c.Binary(kernel.Shr, x, c.Whole(ir.U64, n))
}

// turned returns sin(r + turns·π/2) for |r| ≤ π/4. It uses only turns modulo 4.
func (c calc) turned(r, turns *kernel.Value) *kernel.Value {
	z := c.Mul(r, r)
	cos := c.Fma(c.Mul(z, z), c.polynomial(z, cosTail), c.Fma(z, c.num(-0.5), c.num(1)))
	y := c.Select(c.isOdd(turns), cos, c.odd(r, sinTail))
	minus := c.Convert(c.unsigned, c.And(turns, c.Int(2)))
	return c.flip(y, c.Binary(kernel.Shl, minus, c.Whole(c.unsigned, int64(c.d.Bits()-2))))
}

func (c calc) isOdd(turns *kernel.Value) *kernel.Value {
	return c.Ne(c.And(turns, c.Int(1)), c.Int(0))
}

func (c calc) finite(x, y *kernel.Value) *kernel.Value {
	return c.Select(c.Lt(c.Abs(x), c.inf()), y, c.nan())
}

// Sin returns the sine of x in radians.
func Sin(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	c := on(b, x)
	r, turns := c.quarter(c.Abs(x))
	return c.finite(x, c.flip(c.turned(r, turns), c.sign(x)))
}

// Cos returns the cosine of x in radians.
func Cos(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	c := on(b, x)
	r, turns := c.quarter(c.Abs(x))
	return c.finite(x, c.turned(r, c.Add(turns, c.Int(1))))
}

// Tan returns the tangent of x in radians.
func Tan(b *kernel.Builder, x *kernel.Value) *kernel.Value {
	c := on(b, x)
	r, turns := c.quarter(c.Abs(x))
	z := c.Mul(r, r)
	t := c.sum(r, c.Mul(c.Mul(r, z), c.polynomial(z, tanTail)))
	y := c.Select(c.isOdd(turns), c.Neg(c.reciprocal(t)), t.hi)
	return c.finite(x, c.flip(y, c.sign(x)))
}
