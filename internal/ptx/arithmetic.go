package ptx

import (
	"math"
	"strings"
)

// Lists of types that instructions accept.
const (
	wholes = "s16 u16 s32 u32 s64 u64"
	wide   = "s32 u32 s64 u64" // accepted by division
	reals  = "f32 f64"
	masks  = "b16 b32 b64"
)

// signed returns the low t.bits bits of x as a signed integer.
func (t typ) signed(x uint64) int64 {
	shift := 64 - t.bits
	return int64(x<<shift) >> shift
}

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func f32(x uint64) float32    { return math.Float32frombits(uint32(x)) }
func bits32(x float32) uint64 { return uint64(math.Float32bits(x)) }
func f64(x uint64) float64    { return math.Float64frombits(x) }

// unary decodes an instruction with one operand, of type `from`. The function f computes its
// result, of type `to`.
func (d *decoder) unary(to, from typ, f func(x uint64) uint64) {
	d.operands(2)
	x, r := d.from(1, from), d.to(0, to)
	d.step.exec = func(t *thread) { t.r[r] = f(t.r[x]) }
}

func (d *decoder) binary(to, first, second typ, f func(x, y uint64) uint64) {
	d.operands(3)
	x, y, r := d.from(1, first), d.from(2, second), d.to(0, to)
	d.step.exec = func(t *thread) { t.r[r] = f(t.r[x], t.r[y]) }
}

func (d *decoder) ternary(to, first, second, third typ, f func(x, y, z uint64) uint64) {
	d.operands(4)
	x, y, z, r := d.from(1, first), d.from(2, second), d.from(3, third), d.to(0, to)
	d.step.exec = func(t *thread) { t.r[r] = f(t.r[x], t.r[y], t.r[z]) }
}

// floats decodes an instruction with two float operands and a result of type t. The function `single` computes the
// result if t is f32, and the function `double` if t is f64.
func (d *decoder) floats(t typ, single func(x, y float32) float32, double func(x, y float64) float64) {
	if t.bits == 32 {
		d.binary(t, t, t, func(x, y uint64) uint64 { return bits32(single(f32(x), f32(y))) })
	} else {
		d.binary(t, t, t, func(x, y uint64) uint64 { return math.Float64bits(double(f64(x), f64(y))) })
	}
}

func (d *decoder) sum() {
	minus := strings.HasPrefix(d.op.text, "sub")
	rounded := d.has("rn")
	t := d.typ(pick(rounded, reals, wholes+" "+reals))
	mask := t.mask()
	switch {
	case t.isFloat() && minus:
		d.floats(t, func(x, y float32) float32 { return x - y }, func(x, y float64) float64 { return x - y })
	case t.isFloat():
		d.floats(t, func(x, y float32) float32 { return x + y }, func(x, y float64) float64 { return x + y })
	case minus:
		d.binary(t, t, t, func(x, y uint64) uint64 { return (x - y) & mask })
	default:
		d.binary(t, t, t, func(x, y uint64) uint64 { return (x + y) & mask })
	}
}

func pick(first bool, x, y string) string {
	if first {
		return x
	}
	return y
}

// product decodes mul and mad of integers. With the modifier lo, the result has the width of the factors, and with
// wide, twice their width. If plus is true, a third operand is added.
func (d *decoder) product(plus bool) {
	t, to := typ{}, typ{}
	mul := func(x, y uint64) uint64 { return x * y }
	if d.one("lo", "wide") == "lo" {
		t = d.typ(wholes)
		to = t
	} else {
		t = d.typ("s16 u16 s32 u32")
		to = typ{t.kind, 2 * t.bits}
		if t.kind == 's' {
			mul = func(x, y uint64) uint64 { return uint64(t.signed(x) * t.signed(y)) }
		}
	}
	mask := to.mask()
	if plus {
		d.ternary(to, t, t, to, func(x, y, z uint64) uint64 { return (mul(x, y) + z) & mask })
	} else {
		d.binary(to, t, t, func(x, y uint64) uint64 { return mul(x, y) & mask })
	}
}

func (d *decoder) mul() {
	rounded := d.has("rn")
	if !rounded && (len(d.mods) == 0 || d.mods[0] != "f32" && d.mods[0] != "f64") {
		d.product(false)
		return
	}
	d.floats(d.typ(reals), func(x, y float32) float32 { return x * y }, func(x, y float64) float64 { return x * y })
}

func (d *decoder) mad() { d.product(true) }

func (d *decoder) fma() {
	d.one("rn")
	t := d.typ(reals)
	if t.bits == 32 {
		d.ternary(t, t, t, t, func(x, y, z uint64) uint64 { return bits32(fma32(f32(x), f32(y), f32(z))) })
	} else {
		d.ternary(t, t, t, t, func(x, y, z uint64) uint64 { return math.Float64bits(math.FMA(f64(x), f64(y), f64(z))) })
	}
}

// fma32 returns x·y + z, rounded once. The product is exact in float64. The sum is rounded to odd
// in float64, so that rounding it to float32 equals rounding the exact sum.
func fma32(x, y, z float32) float32 {
	p, c := float64(x)*float64(y), float64(z)
	s := p + c
	if math.IsInf(s, 0) || s != s {
		return float32(s)
	}
	part := s - p
	lost := (p - (s - part)) + (c - part) // the exact sum is s + lost
	if b := math.Float64bits(s); lost != 0 && b&1 == 0 {
		if (lost > 0) == (s > 0) {
			b++
		} else {
			b--
		}
		s = math.Float64frombits(b)
	}
	return float32(s)
}

func (d *decoder) div() {
	if d.has("rn") {
		d.floats(d.typ(reals), func(x, y float32) float32 { return x / y }, func(x, y float64) float64 { return x / y })
		return
	}
	d.quotient(func(x, y int64) int64 { return x / y }, func(x, y uint64) uint64 { return x / y })
}

func (d *decoder) rem() {
	d.quotient(func(x, y int64) int64 { return x % y }, func(x, y uint64) uint64 { return x % y })
}

// quotient decodes a division or remainder of integers. The manual does not define division by 0;
// here all bits of the result are ones.
func (d *decoder) quotient(signed func(x, y int64) int64, unsigned func(x, y uint64) uint64) {
	t := d.typ(wide)
	mask := t.mask()
	d.binary(t, t, t, func(x, y uint64) uint64 {
		switch {
		case y == 0:
			return mask
		case t.kind == 's':
			return uint64(signed(t.signed(x), t.signed(y))) & mask
		}
		return unsigned(x, y)
	})
}

func (d *decoder) extreme() {
	greater := strings.HasPrefix(d.op.text, "max")
	t := d.typ(wholes + " f32")
	if t.isFloat() {
		d.extremeFloat(t, greater)
		return
	}
	d.binary(t, t, t, func(x, y uint64) uint64 {
		less := x < y
		if t.kind == 's' {
			less = t.signed(x) < t.signed(y)
		}
		if less != greater {
			return x
		}
		return y
	})
}

// extremeFloat decodes the rest of max, if `greater` is true, or of min, for f32. If one operand is NaN, the result
// is the other.
func (d *decoder) extremeFloat(t typ, greater bool) {
	d.binary(t, t, t, func(x, y uint64) uint64 {
		a, b := f32(x), f32(y)
		if a != a || b == b && (a < b) == greater {
			return y
		}
		return x
	})
}

// ex2 decodes the power of 2. Operands and results below the smallest normal number count as 0.
func (d *decoder) ex2() {
	d.one("approx")
	d.one("ftz")
	t := d.typ("f32")
	flushed := func(x float32) float32 {
		if math.Abs(float64(x)) < 0x1p-126 {
			return 0
		}
		return x
	}
	d.unary(t, t, func(x uint64) uint64 { return bits32(flushed(float32(math.Exp2(float64(flushed(f32(x))))))) })
}

// sign decodes neg and abs. For floats they change the sign bit, also of a NaN.
func (d *decoder) sign() {
	abs := strings.HasPrefix(d.op.text, "abs")
	t := d.typ("s16 s32 s64 " + reals)
	mask, top := t.mask(), uint64(1)<<(t.bits-1)
	switch {
	case t.isFloat() && abs:
		d.unary(t, t, func(x uint64) uint64 { return x &^ top })
	case t.isFloat():
		d.unary(t, t, func(x uint64) uint64 { return x ^ top })
	case abs:
		d.unary(t, t, func(x uint64) uint64 {
			if x&top != 0 {
				x = -x & mask
			}
			return x
		})
	default:
		d.unary(t, t, func(x uint64) uint64 { return -x & mask })
	}
}

func (d *decoder) sqrt() {
	d.one("rn")
	t := d.typ(reals)
	if t.bits == 32 {
		d.unary(t, t, func(x uint64) uint64 { return bits32(float32(math.Sqrt(float64(f32(x))))) })
	} else {
		d.unary(t, t, func(x uint64) uint64 { return math.Float64bits(math.Sqrt(f64(x))) })
	}
}

func (d *decoder) logic() {
	name := d.op.text[:strings.IndexByte(d.op.text+".", '.')]
	t := d.typ(masks + " pred")
	d.binary(t, t, t, map[string]func(x, y uint64) uint64{
		"and": func(x, y uint64) uint64 { return x & y },
		"or":  func(x, y uint64) uint64 { return x | y },
		"xor": func(x, y uint64) uint64 { return x ^ y },
	}[name])
}

func (d *decoder) not() {
	t := d.typ(masks + " pred")
	mask := t.mask()
	d.unary(t, t, func(x uint64) uint64 { return ^x & mask })
}

// shift decodes shl and shr. The number of bits to shift by has type u32. A number above the width
// counts as the width.
func (d *decoder) shift() {
	by := typ{'u', 32}
	if strings.HasPrefix(d.op.text, "shl") {
		t := d.typ(masks)
		mask := t.mask()
		d.binary(t, t, by, func(x, y uint64) uint64 { return x << y & mask })
		return
	}
	t := d.typ(masks + " " + wholes)
	mask := t.mask()
	if t.kind == 's' {
		d.binary(t, t, by, func(x, y uint64) uint64 { return uint64(t.signed(x)>>y) & mask })
	} else {
		d.binary(t, t, by, func(x, y uint64) uint64 { return x >> y })
	}
}

// extract decodes bfe, which extracts a field of bits from its first operand. The low byte of the second operand is
// the first bit of the field. The low byte of the third operand is the length of the field.
func (d *decoder) extract() {
	t := d.typ("u32 s32")
	place := typ{'u', 32}
	d.ternary(t, t, place, place, func(x, y, z uint64) uint64 {
		from, n := y&0xff, z&0xff
		switch {
		case n == 0:
			return 0
		case t.kind == 'u':
			return x >> from & (1<<n - 1)
		}
		top := min(from+n, 32) // above the word are copies of its sign
		return uint64(t.signed(x)<<(64-top)>>(64-top)>>from) & t.mask()
	})
}

// insert decodes bfi, which replaces a field of bits of the second operand by the low bits of the first. The low byte
// of the third operand is the first bit of the field. The low byte of the fourth operand is the length of the field.
func (d *decoder) insert() {
	t := d.typ("b32")
	place := typ{'u', 32}
	d.operands(5)
	x, y, from, n, r := d.from(1, t), d.from(2, t), d.from(3, place), d.from(4, place), d.to(0, t)
	d.step.exec = func(th *thread) {
		at := th.r[from] & 0xff
		field := (uint64(1)<<(th.r[n]&0xff) - 1) << at & t.mask()
		th.r[r] = th.r[y]&^field | th.r[x]<<at&field
	}
}

// conditions maps the comparisons of setp to their results for operands that are not NaN.
var conditions = map[string]func(less, equal bool) bool{
	"eq": func(_, equal bool) bool { return equal },
	"ne": func(_, equal bool) bool { return !equal },
	"lt": func(less, _ bool) bool { return less },
	"le": func(less, equal bool) bool { return less || equal },
	"gt": func(less, equal bool) bool { return !less && !equal },
	"ge": func(less, _ bool) bool { return !less },
}

// compare decodes setp. If an operand is NaN, the result is true for the comparison nan and for comparisons whose
// names end in u, and false for the others.
func (d *decoder) compare() {
	name := d.one("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan")
	holds := conditions[name[:2]]
	switch {
	case name == "num" || name == "nan":
		t := d.typ(reals)
		d.order(t, func(_, _, nan bool) bool { return nan == (name == "nan") })
		return
	case len(name) == 3:
		d.order(d.typ(reals), func(less, equal, nan bool) bool { return nan || holds(less, equal) })
		return
	case name == "eq" || name == "ne":
		t := d.typ(masks + " " + wholes + " " + reals)
		if !t.isFloat() {
			d.binary(pred, t, t, func(x, y uint64) uint64 { return truth((x == y) == (name == "eq")) })
			return
		}
		d.order(t, func(less, equal, nan bool) bool { return !nan && holds(less, equal) })
		return
	}
	t := d.typ(wholes + " " + reals)
	switch {
	case t.isFloat():
		d.order(t, func(less, equal, nan bool) bool { return !nan && holds(less, equal) })
	case t.kind == 's':
		d.binary(pred, t, t, func(x, y uint64) uint64 { return truth(holds(t.signed(x) < t.signed(y), x == y)) })
	default:
		d.binary(pred, t, t, func(x, y uint64) uint64 { return truth(holds(x < y, x == y)) })
	}
}

// order decodes a comparison of two floats of type t. The function `holds` returns the result of the comparison. less
// and equal say how the first operand compares with the second. nan says that one of the operands is NaN.
func (d *decoder) order(t typ, holds func(less, equal, nan bool) bool) {
	d.binary(pred, t, t, func(x, y uint64) uint64 {
		a, b := toFloat(t, x), toFloat(t, y)
		return truth(holds(a < b, a == b, a != a || b != b))
	})
}

// choose decodes selp, which selects one of two operands by a predicate.
func (d *decoder) choose() {
	t := d.typ(masks + " " + wholes + " " + reals)
	d.ternary(t, t, t, pred, func(x, y, z uint64) uint64 {
		if z != 0 {
			return x
		}
		return y
	})
}
