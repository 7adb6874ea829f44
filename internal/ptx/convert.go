package ptx

import (
	"math"
	"math/bits"
	"strings"
)

// toFloat returns the exact value of the float of type t with bits x.
func toFloat(t typ, x uint64) float64 {
	switch {
	case t.kind == 'h':
		return float64(f32(x << 16))
	case t.bits == 32:
		return float64(f32(x))
	case t.bits == 64:
		return f64(x)
	}
	sign, exponent, fraction := 1.0, int(x>>10&0x1f), float64(x&0x3ff)
	if x>>15 != 0 {
		sign = -1
	}
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 0x1f:
		if fraction != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(fraction+1024, exponent-25)
}

// format returns the precision in bits of a float type other than f64, and the exponent of its
// smallest normal number.
func (t typ) format() (precision, least int) {
	switch {
	case t.kind == 'h':
		return 8, -126
	case t.bits == 16:
		return 11, -14
	}
	return 24, -126
}

// fromFloat returns the bits of x as a float of type t. It rounds towards 0 if towardZero is true, and
// otherwise to nearest, ties to even. If t is not f64, a NaN becomes the one NaN that the manual
// specifies for conversions to t.
func fromFloat(t typ, x float64, towardZero bool) uint64 {
	if t.bits == 64 {
		return math.Float64bits(x)
	}
	if x == x && !math.IsInf(x, 0) && x != 0 {
		x = round(t, x, towardZero)
	}
	switch {
	case t.kind == 'h' && x != x:
		return 0x7fff
	case t.kind == 'h':
		return bits32(float32(x)) >> 16
	case t.bits == 32 && x != x:
		return 0x7fffffff
	case t.bits == 32:
		return bits32(float32(x))
	}
	sign := math.Float64bits(x) >> 63 << 15
	x = math.Abs(x)
	switch {
	case x != x:
		return 0x7fff
	case math.IsInf(x, 0):
		return sign | 0x7c00
	case x < math.Ldexp(1, -14):
		return sign | uint64(math.Ldexp(x, 24))
	}
	fraction, exponent := math.Frexp(x) // of [1/2, 1)
	return sign | uint64(exponent+14)<<10 + uint64(math.Ldexp(fraction, 11)) - 1024
}

// round rounds a finite number to the precision and range of a float type, as [fromFloat] does.
func round(t typ, x float64, towardZero bool) float64 {
	precision, least := t.format()
	_, exponent := math.Frexp(x)
	unit := max(exponent-1, least) - precision + 1
	n := math.Ldexp(x, -unit) // exact: only the exponent changes, and the result is not tiny
	if towardZero {
		n = math.Trunc(n)
	} else {
		n = math.RoundToEven(n)
	}
	y := math.Ldexp(n, unit)
	if most := math.Ldexp(2-math.Ldexp(1, 1-precision), 1-least); math.Abs(y) > most {
		if towardZero {
			return math.Copysign(most, x)
		}
		return math.Inf(int(math.Copysign(1, x)))
	}
	return y
}

// fromInt returns the bits of magnitude, or of its negation if negative is true, as a float of type t. It rounds
// towards 0 if towardZero is true, and otherwise to nearest, ties to even.
func fromInt(t typ, negative bool, magnitude uint64, towardZero bool) uint64 {
	precision := 53
	if t.bits < 64 {
		precision, _ = t.format()
	}
	drop := bits.Len64(magnitude) - precision
	switch {
	case drop <= 0:
	case towardZero:
		magnitude &^= 1<<drop - 1
	default: // what is below the half of the last bit counts only if it is not 0
		if keep := drop - 2; keep > 0 && magnitude&(1<<keep-1) != 0 {
			magnitude = magnitude&^(1<<keep-1) | 1<<keep
		}
	}
	x := float64(magnitude) // exact but for f64
	if negative {
		x = -x
	}
	return fromFloat(t, x, towardZero)
}

// toInt returns the bits of x, a float of type `from`, as an integer of type `to`. A value out of
// range becomes the nearest integer of the type. A NaN becomes 0 if neither type has 64 bits.
// Otherwise it becomes the integer in which only the highest bit is set.
func toInt(to, from typ, x float64) uint64 {
	switch limit := math.Ldexp(1, to.bits-1); {
	case x != x && (from.bits == 64 || to.bits == 64):
		return 1 << (to.bits - 1)
	case x != x:
		return 0
	case to.kind == 's' && x >= limit:
		return 1<<(to.bits-1) - 1
	case to.kind == 's' && x <= -limit:
		return 1 << (to.bits - 1)
	case to.kind == 's':
		return uint64(int64(x)) & to.mask()
	case x >= 2*limit:
		return to.mask()
	case x <= 0:
		return 0
	}
	return uint64(x)
}

// integral maps the rounding modes that round to an integer to their functions.
var integral = map[string]func(float64) float64{
	"rni": math.RoundToEven, "rzi": math.Trunc, "rmi": math.Floor, "rpi": math.Ceil,
}

// cvt decodes a conversion. Some conversions must have a rounding mode: from an integer to a float, from a float to
// an integer, and from a float to a narrower float or to the same type. Other conversions must not have one.
func (d *decoder) cvt() {
	mode := ""
	if len(d.mods) > 0 && strings.HasPrefix(d.mods[0], "r") {
		mode = d.one("rn", "rz", "rni", "rzi", "rmi", "rpi")
	}
	if len(d.mods) > 0 && strings.HasSuffix(d.mods[0], "x2") {
		d.cvtTwo(mode)
		return
	}
	const small = "s8 u8 "
	to := d.typ(small + wholes + " f16 bf16 " + reals)
	from := d.typ(small + wholes + " f16 " + reals)
	if to.kind == 'h' && (d.target < 80 || d.version < 7 || from.bits != 32 || !from.isFloat()) {
		d.fail("bf16 needs .version 7.0, .target sm_80 and an f32")
	}
	d.operands(2)
	x := d.source(d.args[1], from, fitsWide)
	r := d.register(d.args[0], to, fitsWide)
	d.step.writes = append(d.step.writes, r)
	if d.args[1].form != named {
		d.fail("the operand is not a register")
	}

	towardZero := mode == "rz"
	rounds := mode == "rn" || mode == "rz"
	toWhole := integral[mode]
	switch {
	case from.isFloat() && to.isFloat() && to.bits == from.bits:
		if toWhole == nil || to.kind == 'h' {
			d.fail("a conversion to the same type rounds to an integer")
		}
		d.step.exec = func(t *thread) { t.r[r] = fromFloat(to, toWhole(toFloat(from, t.r[x])), false) }
	case from.isFloat() && to.isFloat():
		if rounds != (to.bits < from.bits) || toWhole != nil {
			d.fail("the mode of rounding %q does not belong to this conversion", mode)
		}
		d.step.exec = func(t *thread) { t.r[r] = fromFloat(to, toFloat(from, t.r[x]), towardZero) }
	case from.isFloat():
		if toWhole == nil || to.bits < 32 {
			d.fail("the mode of rounding %q does not belong to this conversion", mode)
		}
		extend := d.extend(to, r)
		d.step.exec = func(t *thread) { t.r[r] = extend(toInt(to, from, toWhole(toFloat(from, t.r[x])))) }
	case to.isFloat():
		if !rounds {
			d.fail("the mode of rounding %q does not belong to this conversion", mode)
		}
		mask := from.mask()
		d.step.exec = func(t *thread) {
			n := t.r[x] & mask
			if negative := from.kind == 's' && from.signed(n) < 0; negative {
				t.r[r] = fromInt(to, true, -uint64(from.signed(n)), towardZero)
			} else {
				t.r[r] = fromInt(to, false, n, towardZero)
			}
		}
	default:
		if mode != "" {
			d.fail("conversions of integers do not round")
		}
		extend := d.extend(to, r)
		mask := from.mask()
		d.step.exec = func(t *thread) {
			n := t.r[x] & mask
			if from.kind == 's' {
				n = uint64(from.signed(n))
			}
			t.r[r] = extend(n & to.mask())
		}
	}
}

// cvtTwo decodes the rest of a conversion of two f32 to halves of a register. The first operand becomes the upper half.
func (d *decoder) cvtTwo(mode string) {
	half, word, single := typ{'f', 16}, typ{'b', 32}, typ{'f', 32}
	if d.one("f16x2", "bf16x2") == "bf16x2" {
		half.kind = 'h'
	}
	d.one("f32")
	if mode != "rn" {
		d.fail("the mode of rounding %q does not belong to this conversion", mode)
	}
	d.binary(word, single, single, func(high, low uint64) uint64 {
		return fromFloat(half, toFloat(single, high), false)<<16 | fromFloat(half, toFloat(single, low), false)
	})
}

// extend returns a function that extends a number of type t to the width of the register whose index is `slot`. A
// number of a signed type is extended with its sign, and any other with zeros.
func (d *decoder) extend(t typ, slot int) func(x uint64) uint64 {
	mask := d.entry.registers[slot].mask()
	if t.kind != 's' {
		return func(x uint64) uint64 { return x & mask }
	}
	return func(x uint64) uint64 { return uint64(t.signed(x)) & mask }
}

// cvta decodes the conversion of a generic address to a global one. Both are equal here.
func (d *decoder) cvta() {
	d.one("to")
	d.one("global")
	t := d.typ("u64")
	d.unary(t, t, func(x uint64) uint64 { return x })
}
