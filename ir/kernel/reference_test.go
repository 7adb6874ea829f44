package kernel_test

import (
	"math"
	"math/big"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// The functions of this file compute operations in plain Go.

// arithmetic are the types that operations compute on.
var arithmetic = []ir.DType{ir.Bool, ir.I32, ir.U32, ir.I64, ir.U64, ir.F32, ir.F64}

// elements are the types of values.
var elements = append([]ir.DType{ir.I8, ir.U8, ir.I16, ir.U16, ir.F16, ir.BF16}, arithmetic...)

// Operations by what they compute on.
var (
	onNumbers  = []kernel.Op{kernel.Add, kernel.Sub, kernel.Mul, kernel.Div, kernel.Min, kernel.Max}
	onInts     = []kernel.Op{kernel.Rem, kernel.And, kernel.Or, kernel.Xor, kernel.Shl, kernel.Shr}
	onBools    = []kernel.Op{kernel.And, kernel.Or, kernel.Xor}
	orders     = []kernel.Op{kernel.Lt, kernel.Le, kernel.Gt, kernel.Ge}
	equalities = []kernel.Op{kernel.Eq, kernel.Ne}
)

// binaries returns the operations on two operands of a type, comparisons included.
func binaries(d ir.DType) (list []kernel.Op) {
	list = append(list, equalities...)
	switch {
	case d == ir.Bool:
		return append(list, onBools...)
	case d.IsInt():
		list = append(list, onInts...)
	}
	return append(append(list, onNumbers...), orders...)
}

// unaries returns the operations on one operand of a type.
func unaries(d ir.DType) []kernel.Op {
	switch {
	case d == ir.Bool:
		return []kernel.Op{kernel.Not}
	case d.IsInt():
		return []kernel.Op{kernel.Neg, kernel.Abs, kernel.Not}
	}
	return []kernel.Op{kernel.Neg, kernel.Abs, kernel.Sqrt, kernel.Floor, kernel.Ceil, kernel.Trunc, kernel.Round}
}

// resultOf returns the type of the result of an operation on two operands.
func resultOf(o kernel.Op, d ir.DType) ir.DType {
	if o >= kernel.Eq && o <= kernel.Ge {
		return ir.Bool
	}
	return d
}

// operate computes an operation on two operands. ok is false if it has no value.
func operate(o kernel.Op, d ir.DType, x, y uint64) (bits uint64, ok bool) {
	switch d {
	case ir.Bool:
		return logic(o, x == 1, y == 1), true
	case ir.I32:
		v, c, ok := integers(o, int32(x), int32(y), 32)
		return uint64(uint32(v)) | c, ok
	case ir.U32:
		v, c, ok := integers(o, uint32(x), uint32(y), 32)
		return uint64(v) | c, ok
	case ir.I64:
		v, c, ok := integers(o, int64(x), int64(y), 64)
		return uint64(v) | c, ok
	case ir.U64:
		v, c, ok := integers(o, x, y, 64)
		return v | c, ok
	case ir.F32:
		v, c := floats(o, math.Float32frombits(uint32(x)), math.Float32frombits(uint32(y)))
		return uint64(math.Float32bits(v)) | c, true
	}
	v, c := floats(o, math.Float64frombits(x), math.Float64frombits(y))
	return math.Float64bits(v) | c, true
}

func bit(x bool) uint64 {
	if x {
		return 1
	}
	return 0
}

func logic(o kernel.Op, x, y bool) uint64 {
	switch o {
	case kernel.And:
		return bit(x && y)
	case kernel.Or:
		return bit(x || y)
	case kernel.Eq:
		return bit(x == y)
	}
	return bit(x != y)
}

// integers returns a number or a truth.
func integers[T int32 | uint32 | int64 | uint64](o kernel.Op, x, y T, width uint64) (v T, truth uint64, ok bool) {
	switch o {
	case kernel.Add:
		return x + y, 0, true
	case kernel.Sub:
		return x - y, 0, true
	case kernel.Mul:
		return x * y, 0, true
	case kernel.Div:
		if y == 0 {
			return 0, 0, false
		}
		return x / y, 0, true
	case kernel.Rem:
		if y == 0 {
			return 0, 0, false
		}
		return x % y, 0, true
	case kernel.And:
		return x & y, 0, true
	case kernel.Or:
		return x | y, 0, true
	case kernel.Xor:
		return x ^ y, 0, true
	case kernel.Shl:
		if y < 0 || uint64(y) >= width {
			return 0, 0, false
		}
		return x << y, 0, true
	case kernel.Shr:
		if y < 0 || uint64(y) >= width {
			return 0, 0, false
		}
		return x >> y, 0, true
	case kernel.Min:
		return min(x, y), 0, true
	case kernel.Max:
		return max(x, y), 0, true
	}
	return 0, compare(o, x, y), true
}

func compare[T int32 | uint32 | int64 | uint64 | float32 | float64](o kernel.Op, x, y T) uint64 {
	switch o {
	case kernel.Eq:
		return bit(x == y)
	case kernel.Ne:
		return bit(x != y)
	case kernel.Lt:
		return bit(x < y)
	case kernel.Le:
		return bit(x <= y)
	case kernel.Gt:
		return bit(x > y)
	}
	return bit(x >= y)
}

// floats returns a number or a truth.
func floats[T float32 | float64](o kernel.Op, x, y T) (v T, truth uint64) {
	switch o {
	case kernel.Add:
		return x + y, 0
	case kernel.Sub:
		return x - y, 0
	case kernel.Mul:
		return x * y, 0
	case kernel.Div:
		return x / y, 0
	case kernel.Min:
		if x < y {
			return x, 0
		}
		return y, 0
	case kernel.Max:
		if x > y {
			return x, 0
		}
		return y, 0
	}
	return 0, compare(o, x, y)
}

// unary computes an operation on one operand.
func unary(o kernel.Op, d ir.DType, x uint64) uint64 {
	switch d {
	case ir.Bool:
		return bit(x == 0)
	case ir.I32:
		return uint64(uint32(signed(o, int32(x))))
	case ir.I64:
		return uint64(signed(o, int64(x)))
	case ir.U32:
		return uint64(unsigned(o, uint32(x)))
	case ir.U64:
		return unsigned(o, x)
	case ir.F32:
		return uint64(math.Float32bits(float32(float(o, float64(math.Float32frombits(uint32(x)))))))
	}
	return math.Float64bits(float(o, math.Float64frombits(x)))
}

func signed[T int32 | int64](o kernel.Op, x T) T {
	switch {
	case o == kernel.Not:
		return ^x
	case o == kernel.Neg || x < 0:
		return -x
	}
	return x
}

func unsigned[T uint32 | uint64](o kernel.Op, x T) T {
	switch o {
	case kernel.Not:
		return ^x
	case kernel.Neg:
		return -x
	}
	return x
}

func float(o kernel.Op, x float64) float64 {
	switch o {
	case kernel.Neg:
		return -x
	case kernel.Abs:
		return math.Abs(x)
	case kernel.Sqrt:
		return math.Sqrt(x)
	case kernel.Floor:
		return math.Floor(x)
	case kernel.Ceil:
		return math.Ceil(x)
	case kernel.Trunc:
		return math.Trunc(x)
	}
	return math.RoundToEven(x)
}

// fma computes x · y + z, rounded once.
func fma(d ir.DType, x, y, z uint64) uint64 {
	if d == ir.F64 {
		return math.Float64bits(math.FMA(math.Float64frombits(x), math.Float64frombits(y), math.Float64frombits(z)))
	}
	p, q, r := decode(d, x), decode(d, y), decode(d, z)
	rough := p*q + r
	if math.IsInf(rough, 0) || rough != rough || rough == 0 {
		return uint64(math.Float32bits(float32(rough)))
	}
	exact := func(x float64) *big.Float { return new(big.Float).SetPrec(2000).SetFloat64(x) }
	sum := exact(p)
	sum.Mul(sum, exact(q))
	sum.Add(sum, exact(r))
	once, _ := sum.Float32()
	return uint64(math.Float32bits(once))
}

// decode returns a float by the definition of its format.
func decode(d ir.DType, bits uint64) float64 {
	fraction := map[ir.DType]uint{ir.F16: 10, ir.BF16: 7, ir.F32: 23, ir.F64: 52}[d]
	width := uint(d.Bits())
	most := uint64(1)<<(width-1-fraction) - 1
	bias := int(most / 2)
	f, e := bits&(1<<fraction-1), bits>>fraction&most
	x := 0.0
	switch {
	case e == most && f != 0:
		return math.NaN()
	case e == most:
		x = math.Inf(1)
	case e == 0:
		x = math.Ldexp(float64(f), 1-bias-int(fraction))
	default:
		x = math.Ldexp(float64(f|1<<fraction), int(e)-bias-int(fraction))
	}
	if bits>>(width-1) == 1 {
		x = -x
	}
	return x
}

// convert converts a value by exact arithmetic.
func convert(to, from ir.DType, bits uint64) uint64 {
	exact := new(big.Float).SetPrec(2000)
	switch {
	case from.IsFloat():
		switch x := decode(from, bits); {
		case to == ir.Bool:
			return bit(x != 0)
		case x != x && to.IsFloat():
			return encode(to, math.NaN(), nil)
		case x != x:
			return 0
		case math.IsInf(x, 0) || x == 0:
			if to.IsFloat() {
				return encode(to, x, nil)
			}
			exact.SetInf(x < 0)
			if x == 0 {
				return 0
			}
		default:
			exact.SetFloat64(x)
		}
	case from.Class() == ir.Signed:
		unused := 64 - uint(from.Bits())
		exact.SetInt64(int64(bits<<unused) >> unused)
	default:
		exact.SetUint64(bits)
	}
	switch {
	case to == ir.Bool:
		return bit(exact.Sign() != 0)
	case to.IsFloat():
		return encode(to, 0, exact)
	}
	keep := ^uint64(0) >> (64 - uint(to.Bits()))
	if !from.IsFloat() {
		whole, _ := exact.Int(nil)
		return new(big.Int).And(whole, new(big.Int).SetUint64(keep)).Uint64()
	}
	least, greatest := new(big.Int), new(big.Int).SetUint64(keep)
	if to.Class() == ir.Signed {
		greatest.Rsh(greatest, 1)
		least.Not(greatest)
	}
	switch {
	case exact.Cmp(new(big.Float).SetInt(least)) < 0:
		return new(big.Int).And(least, new(big.Int).SetUint64(keep)).Uint64()
	case exact.Cmp(new(big.Float).SetInt(greatest)) > 0:
		return greatest.Uint64()
	}
	whole, _ := exact.Int(nil)
	return new(big.Int).And(whole, new(big.Int).SetUint64(keep)).Uint64()
}

// encode returns the bits of the float nearest to an exact number, ties to even, or of a special one.
func encode(d ir.DType, special float64, exact *big.Float) uint64 {
	if exact != nil && exact.Sign() == 0 {
		exact = nil
	}
	switch {
	case d == ir.F64 && exact == nil:
		return math.Float64bits(special)
	case d == ir.F64:
		x, _ := exact.Float64()
		return math.Float64bits(x)
	case d == ir.F32 && exact == nil:
		return uint64(math.Float32bits(float32(special)))
	case d == ir.F32:
		x, _ := exact.Float32()
		return uint64(math.Float32bits(x))
	}
	inf := map[ir.DType]uint64{ir.F16: 0x7c00, ir.BF16: 0x7f80}[d]
	if exact == nil {
		var bits uint64
		switch {
		case special != special:
			return inf | 1
		case math.IsInf(special, 0):
			bits = inf
		}
		return bits | bit(math.Signbit(special))<<15
	}
	at := func(bits uint64) *big.Float {
		if bits == inf { // what would follow the greatest number
			return new(big.Float).SetMantExp(big.NewFloat(1), map[ir.DType]int{ir.F16: 16, ir.BF16: 128}[d])
		}
		return new(big.Float).SetFloat64(decode(d, bits))
	}
	abs := new(big.Float).Abs(exact)
	lo, hi := uint64(0), inf // at(lo) <= abs, and abs < at(hi) or hi is infinite
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; at(mid).Cmp(abs) <= 0 {
			lo = mid
		} else {
			hi = mid
		}
	}
	middle := new(big.Float).SetPrec(2000).Add(at(lo), at(hi))
	middle.Quo(middle, big.NewFloat(2))
	nearest := lo
	if c := abs.Cmp(middle); c > 0 || c == 0 && lo&1 == 1 {
		nearest = hi
	}
	return nearest | bit(exact.Sign() < 0)<<15
}

// equal reports whether two values are the same, or both NaN.
func equal(d ir.DType, x, y uint64) bool {
	if x == y {
		return true
	}
	if !d.IsFloat() {
		return false
	}
	p, q := decode(d, x), decode(d, y)
	return p != p && q != q
}
