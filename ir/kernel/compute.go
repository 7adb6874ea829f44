package kernel

import (
	"math"
	"unsafe"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/runtime/rt"
)

// The functions of this file compute operations on the bits of values. A register of 64 bits holds
// the bits of a value in its low bytes. Its other bits are 0.

func binaryFunc(o Op, d ir.DType) func(x, y uint64) uint64 {
	switch d {
	case ir.Bool, ir.U32:
		return wholes[uint32](o)
	case ir.I32:
		return wholes[int32](o)
	case ir.U64:
		return wholes[uint64](o)
	case ir.I64:
		return wholes[int64](o)
	case ir.F32:
		return reals[float32](o)
	}
	return reals[float64](o)
}

type whole interface {
	int32 | uint32 | int64 | uint64
}

func low[T whole](x T) uint64 {
	if unsafe.Sizeof(x) == 4 {
		return uint64(uint32(x))
	}
	return uint64(x)
}

func width[T whole]() uint64 { return 8 * uint64(unsafe.Sizeof(T(0))) }

func wholes[T whole](o Op) func(x, y uint64) uint64 {
	switch o {
	case Add:
		return func(x, y uint64) uint64 { return low(T(x) + T(y)) }
	case Sub:
		return func(x, y uint64) uint64 { return low(T(x) - T(y)) }
	case Mul:
		return func(x, y uint64) uint64 { return low(T(x) * T(y)) }
	case Div:
		return func(x, y uint64) uint64 { return low(T(x) / divisor(T(y))) }
	case Rem:
		return func(x, y uint64) uint64 { return low(T(x) % divisor(T(y))) }
	case Min:
		return func(x, y uint64) uint64 { return low(min(T(x), T(y))) }
	case Max:
		return func(x, y uint64) uint64 { return low(max(T(x), T(y))) }
	case And:
		return func(x, y uint64) uint64 { return x & y }
	case Or:
		return func(x, y uint64) uint64 { return x | y }
	case Xor:
		return func(x, y uint64) uint64 { return x ^ y }
	case Shl:
		return func(x, y uint64) uint64 { return low(T(x) << distance[T](y)) }
	case Shr:
		return func(x, y uint64) uint64 { return low(T(x) >> distance[T](y)) }
	case Eq:
		return func(x, y uint64) uint64 { return flag(T(x) == T(y)) }
	case Ne:
		return func(x, y uint64) uint64 { return flag(T(x) != T(y)) }
	case Lt:
		return func(x, y uint64) uint64 { return flag(T(x) < T(y)) }
	case Le:
		return func(x, y uint64) uint64 { return flag(T(x) <= T(y)) }
	case Gt:
		return func(x, y uint64) uint64 { return flag(T(x) > T(y)) }
	case Ge:
		return func(x, y uint64) uint64 { return flag(T(x) >= T(y)) }
	}
	panic("kernel: no function of integers for " + o.String())
}

func divisor[T whole](x T) T {
	if x == 0 {
		fail("a division by 0")
	}
	return x
}

func distance[T whole](y uint64) uint64 {
	if y >= width[T]() {
		fail("a shift by %d", int64(T(y)))
	}
	return y
}

func flag(x bool) uint64 {
	if x {
		return 1
	}
	return 0
}

type real interface{ float32 | float64 }

func decode[T real](x uint64) T {
	if unsafe.Sizeof(T(0)) == 4 {
		return T(math.Float32frombits(uint32(x)))
	}
	return T(math.Float64frombits(x))
}

func encode[T real](x T) uint64 {
	if unsafe.Sizeof(x) == 4 {
		return uint64(math.Float32bits(float32(x)))
	}
	return math.Float64bits(float64(x))
}

func reals[T real](o Op) func(x, y uint64) uint64 {
	switch o {
	case Add:
		return func(x, y uint64) uint64 { return encode(decode[T](x) + decode[T](y)) }
	case Sub:
		return func(x, y uint64) uint64 { return encode(decode[T](x) - decode[T](y)) }
	case Mul:
		return func(x, y uint64) uint64 { return encode(decode[T](x) * decode[T](y)) }
	case Div:
		return func(x, y uint64) uint64 { return encode(decode[T](x) / decode[T](y)) }
	case Min:
		return func(x, y uint64) uint64 {
			if decode[T](x) < decode[T](y) {
				return x
			}
			return y
		}
	case Max:
		return func(x, y uint64) uint64 {
			if decode[T](x) > decode[T](y) {
				return x
			}
			return y
		}
	case Eq:
		return func(x, y uint64) uint64 { return flag(decode[T](x) == decode[T](y)) }
	case Ne:
		return func(x, y uint64) uint64 { return flag(decode[T](x) != decode[T](y)) }
	case Lt:
		return func(x, y uint64) uint64 { return flag(decode[T](x) < decode[T](y)) }
	case Le:
		return func(x, y uint64) uint64 { return flag(decode[T](x) <= decode[T](y)) }
	case Gt:
		return func(x, y uint64) uint64 { return flag(decode[T](x) > decode[T](y)) }
	case Ge:
		return func(x, y uint64) uint64 { return flag(decode[T](x) >= decode[T](y)) }
	}
	panic("kernel: no function of floats for " + o.String())
}

// fused returns a function that computes x·y + z on floats of type d. The function rounds only once.
func fused(d ir.DType) func(x, y, z uint64) uint64 {
	if d == ir.F64 {
		return func(x, y, z uint64) uint64 {
			return encode(math.FMA(decode[float64](x), decode[float64](y), decode[float64](z)))
		}
	}
	return func(x, y, z uint64) uint64 {
		p := float64(decode[float32](x)) * float64(decode[float32](y)) // exact
		return encode(float32(oddSum(p, float64(decode[float32](z)))))
	}
}

// oddSum returns x + y if the sum is exact in a float64, infinite or NaN. Otherwise x + y lies between two adjacent
// float64, and oddSum returns the one whose last bit is 1. Rounding the result to a float32 is the same as rounding
// the exact sum.
func oddSum(x, y float64) float64 {
	sum := x + y
	back := sum - x
	lost := (x - (sum - back)) + (y - back) // exact, NaN if the sum is not finite
	b := math.Float64bits(sum)
	if lost == 0 || lost != lost || b&1 == 1 {
		return sum
	}
	if (lost > 0) == (sum > 0) {
		return math.Float64frombits(b + 1)
	}
	return math.Float64frombits(b - 1)
}

func unaryFunc(o Op, from, to ir.DType) func(x uint64) uint64 {
	switch {
	case o == Bitcast:
		return func(x uint64) uint64 { return x }
	case o == Convert:
		return conversion(from, to)
	case o == Not && from == ir.Bool:
		return func(x uint64) uint64 { return x ^ 1 }
	}
	switch from {
	case ir.I32:
		return wholeUnary[int32](o)
	case ir.U32:
		return wholeUnary[uint32](o)
	case ir.I64:
		return wholeUnary[int64](o)
	case ir.U64:
		return wholeUnary[uint64](o)
	case ir.F32:
		return realUnary[float32](o)
	}
	return realUnary[float64](o)
}

func wholeUnary[T whole](o Op) func(x uint64) uint64 {
	switch o {
	case Neg:
		return func(x uint64) uint64 { return low(-T(x)) }
	case Abs:
		return func(x uint64) uint64 {
			if T(x) < 0 {
				return low(-T(x))
			}
			return x
		}
	case Not:
		return func(x uint64) uint64 { return low(^T(x)) }
	}
	panic("kernel: no function of an integer for " + o.String())
}

func realUnary[T real](o Op) func(x uint64) uint64 {
	f := map[Op]func(float64) float64{Sqrt: math.Sqrt, Floor: math.Floor, Ceil: math.Ceil, Trunc: math.Trunc, Round: math.RoundToEven}[o]
	sign := encode(T(math.Copysign(0, -1)))
	switch {
	case o == Neg:
		return func(x uint64) uint64 { return x ^ sign }
	case o == Abs:
		return func(x uint64) uint64 { return x &^ sign }
	case f != nil:
		return func(x uint64) uint64 { return encode(T(f(float64(decode[T](x))))) }
	}
	panic("kernel: no function of a float for " + o.String())
}

func conversion(from, to ir.DType) func(x uint64) uint64 {
	if !from.IsFloat() {
		return fromWhole(from, to)
	}
	wide := widening(from)
	switch to {
	case ir.F64:
		return func(x uint64) uint64 { return math.Float64bits(wide(x)) }
	case ir.F32:
		return func(x uint64) uint64 { return uint64(math.Float32bits(float32(wide(x)))) }
	case ir.F16, ir.BF16:
		half := halving(to)
		return func(x uint64) uint64 { return half(wide(x)) }
	case ir.Bool:
		return func(x uint64) uint64 { return flag(wide(x) != 0) }
	}
	return func(x uint64) uint64 { return toWhole(wide(x), to) }
}

func widening(from ir.DType) func(x uint64) float64 {
	switch from {
	case ir.F64:
		return math.Float64frombits
	case ir.F32:
		return func(x uint64) float64 { return float64(math.Float32frombits(uint32(x))) }
	case ir.F16:
		return func(x uint64) float64 { return float64(rt.Float16(x).Float32()) }
	}
	return func(x uint64) float64 { return float64(rt.BFloat16(x).Float32()) }
}

// halving returns a function that rounds a float64 to the type `to`, f16 or bf16, and returns the bits. It rounds
// only once.
func halving(to ir.DType) func(x float64) uint64 {
	if to == ir.F16 {
		return func(x float64) uint64 { return uint64(rt.ToFloat16(rt.RoundToOdd(x))) }
	}
	return func(x float64) uint64 { return uint64(rt.ToBFloat16(rt.RoundToOdd(x))) }
}

// toWhole truncates x to an integer of the type `to`, clamped to the range of this type, and returns the bits of
// the integer. NaN becomes 0.
func toWhole(x float64, to ir.DType) uint64 {
	if x != x {
		return 0
	}
	n := uint(to.Bits())
	if to.Class() == ir.Signed {
		least := int64(-1) << (n - 1)
		switch {
		case x <= float64(least):
			return uint64(least) << (64 - n) >> (64 - n)
		case x >= -float64(least):
			return uint64(^least)
		}
		return uint64(int64(x)) << (64 - n) >> (64 - n)
	}
	greatest := ^uint64(0) >> (64 - n)
	switch {
	case x <= 0:
		return 0
	case x >= math.Ldexp(1, int(n)):
		return greatest
	}
	return uint64(x)
}

func fromWhole(from, to ir.DType) func(x uint64) uint64 {
	unused := 64 - uint(from.Bits())
	signed := from.Class() == ir.Signed
	extend := func(x uint64) uint64 {
		if signed {
			return uint64(int64(x<<unused) >> unused)
		}
		return x
	}
	switch {
	case to == ir.Bool:
		return func(x uint64) uint64 { return flag(x != 0) }
	case !to.IsFloat():
		drop := 64 - uint(to.Bits())
		return func(x uint64) uint64 { return extend(x) << drop >> drop }
	case to == ir.F64 && signed:
		return func(x uint64) uint64 { return math.Float64bits(float64(int64(extend(x)))) }
	case to == ir.F64:
		return func(x uint64) uint64 { return math.Float64bits(float64(x)) }
	case to == ir.F32 && signed:
		return func(x uint64) uint64 { return uint64(math.Float32bits(float32(int64(extend(x))))) }
	case to == ir.F32:
		return func(x uint64) uint64 { return uint64(math.Float32bits(float32(x))) }
	}
	half := halving(to)
	return func(x uint64) uint64 {
		x = extend(x)
		if signed && int64(x) < 0 {
			return half(-oddFloat(-x))
		}
		return half(oddFloat(x))
	}
}

// oddFloat returns the integer x if it is exact in a float64. Otherwise x lies between two adjacent float64, and
// oddFloat returns the one whose last bit is 1. Rounding the result to a shorter float type is the same as rounding
// x.
func oddFloat(x uint64) float64 {
	if low := x & 0x7ff; x>>53 != 0 && low != 0 {
		x = x - low | 0x800
	}
	return float64(x)
}
