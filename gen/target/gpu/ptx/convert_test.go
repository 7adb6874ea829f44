package ptx

import (
	"fmt"
	"math"
	"math/big"
	"sort"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/runtime/rt"
)

// numeral is a number of any type: a NaN, an infinity, a zero with a sign, or a finite number.
type numeral struct {
	nan, infinite bool
	negative      bool // of an infinity or a zero
	value         *big.Float
}

// ofFloat returns a float as an exact number.
func ofFloat(x float64) numeral {
	if x != x {
		return numeral{nan: true}
	}
	e := numeral{infinite: math.IsInf(x, 0), negative: math.Signbit(x)}
	if !e.infinite {
		e.value = new(big.Float).SetPrec(2000).SetFloat64(x)
	}
	return e
}

// exactOf returns the number with these bits.
func exactOf(d ir.DType, bits uint64) numeral {
	switch d {
	case ir.F16:
		return ofFloat(float64(rt.Float16(bits).Float32()))
	case ir.BF16:
		return ofFloat(float64(math.Float32frombits(uint32(bits) << 16)))
	case ir.F32:
		return ofFloat(float64(math.Float32frombits(uint32(bits))))
	case ir.F64:
		return ofFloat(math.Float64frombits(bits))
	}
	v := new(big.Float).SetPrec(2000).SetUint64(bits)
	if d.Class() == ir.Signed {
		v.SetInt64(int64(bits<<(64-d.Bits())) >> (64 - d.Bits()))
	}
	return numeral{value: v}
}

// halfCodes are the codes of the finite numbers that are not negative, of a type with 16 bits.
func halfCodes(d ir.DType) int {
	if d == ir.F16 {
		return 0x7c00
	}
	return 0x7f80
}

// nearestHalf returns the code of a type with 16 bits that is nearest to a finite number, the even
// one of two. The code after the last is that of infinity, whose number is the next power of 2 here.
func nearestHalf(d ir.DType, x *big.Float) uint64 {
	n := halfCodes(d)
	at := func(code int) *big.Float {
		if code == n {
			return new(big.Float).SetPrec(2000).Mul(exactOf(d, uint64(n-(n&-n))).value, big.NewFloat(2))
		}
		return exactOf(d, uint64(code)).value
	}
	magnitude := new(big.Float).Abs(x)
	sign := uint64(0)
	if x.Signbit() {
		sign = 0x8000
	}
	above := sort.Search(n+1, func(code int) bool { return at(code).Cmp(magnitude) >= 0 })
	if above == n+1 {
		return sign | uint64(n)
	}
	if above == 0 {
		return sign
	}
	below := above - 1
	up := new(big.Float).Sub(at(above), magnitude)
	down := new(big.Float).Sub(magnitude, at(below))
	switch c := down.Cmp(up); {
	case c < 0, c == 0 && below%2 == 0:
		return sign | uint64(below)
	}
	return sign | uint64(above)
}

// converted returns the bits of a number in another type, as [kernel.Convert] says.
func converted(to, from ir.DType, bits uint64) uint64 {
	x := exactOf(from, bits)
	if to == ir.Bool {
		if x.nan || x.infinite || x.value.Sign() != 0 {
			return 1
		}
		return 0
	}
	if to.IsFloat() {
		return toFloat(to, x)
	}
	if !from.IsFloat() {
		return bits64(x.value) & (math.MaxUint64 >> (64 - to.Bits()))
	}
	low, high := new(big.Int), new(big.Int).Lsh(big.NewInt(1), uint(to.Bits()))
	if to.Class() == ir.Signed {
		high.Rsh(high, 1)
		low.Neg(high)
	}
	high.Sub(high, big.NewInt(1))
	var n *big.Int
	switch {
	case x.nan:
		n = new(big.Int)
	case x.infinite && x.negative:
		n = low
	case x.infinite:
		n = high
	default:
		n, _ = x.value.Int(nil)
		if n.Cmp(low) < 0 {
			n = low
		}
		if n.Cmp(high) > 0 {
			n = high
		}
	}
	return bits64(new(big.Float).SetPrec(2000).SetInt(n)) & (math.MaxUint64 >> (64 - to.Bits()))
}

// bits64 returns the bits of an integer.
func bits64(x *big.Float) uint64 {
	if x.Sign() < 0 {
		n, _ := x.Int64()
		return uint64(n)
	}
	n, _ := x.Uint64()
	return n
}

// toFloat rounds a number to a type.
func toFloat(to ir.DType, x numeral) uint64 {
	plain := math.NaN()
	switch {
	case x.infinite && x.negative:
		plain = math.Inf(-1)
	case x.infinite:
		plain = math.Inf(1)
	case !x.nan:
		plain, _ = x.value.Float64()
	}
	switch to {
	case ir.F64:
		return math.Float64bits(plain)
	case ir.F32:
		single := float32(plain)
		if !x.nan && !x.infinite {
			single, _ = x.value.Float32()
		}
		return uint64(math.Float32bits(single))
	}
	sign := uint64(0)
	if x.negative {
		sign = 0x8000
	}
	switch {
	case x.nan:
		return uint64(halfCodes(to)) + 1
	case x.infinite:
		return sign | uint64(halfCodes(to))
	}
	return nearestHalf(to, x.value)
}

// TestConvert converts odd numbers of every type to every type.
func TestConvert(t *testing.T) {
	for _, from := range all {
		values := oddValues(from)
		n := len(values)
		for _, to := range all {
			if to == from {
				continue
			}
			t.Run(fmt.Sprintf("%s_%s", from, to), func(t *testing.T) {
				k := build(t, "conversion", []int{n}, func(b *kernel.Builder) {
					x, y := b.Pointer("x", from), b.Pointer("y", to)
					b.Store(y, b.Thread(0), b.Convert(to, b.Load(x, b.Thread(0))))
					for i, c := range values {
						b.Store(y, b.Int(n+i), b.Convert(to, constantOf(b, from, c)))
					}
				})
				want := make([]uint64, 2*n)
				for i, x := range values {
					want[i] = converted(to, from, x)
					want[n+i] = want[i]
				}
				got := make([]uint64, 2*n)
				run(t, k, single, array(from, values...), array(to, got...))
				compare(t, fmt.Sprintf("%#x", values), to, got, want)
			})
		}
	}
}

// TestConvertAndCompute asserts that a converted number is whole: that it computes further as its
// type does, with all bits of its register.
func TestConvertAndCompute(t *testing.T) {
	for _, from := range all {
		for _, storage := range []ir.DType{ir.I8, ir.U8, ir.I16, ir.U16} {
			if from == storage || from == ir.Bool {
				continue
			}
			values := oddValues(from)
			k := build(t, "chain", []int{len(values)}, func(b *kernel.Builder) {
				x, y := b.Pointer("x", from), b.Pointer("y", ir.I64)
				b.Store(y, b.Thread(0), b.Convert(ir.I64, b.Convert(storage, b.Load(x, b.Thread(0)))))
			})
			want := make([]uint64, len(values))
			for i, x := range values {
				want[i] = converted(ir.I64, storage, converted(storage, from, x))
			}
			got := make([]uint64, len(values))
			run(t, k, single, array(from, values...), array(ir.I64, got...))
			compare(t, from.String()+" "+storage.String(), ir.I64, got, want)
		}
	}
}

// TestBitcast casts odd numbers of every type to every other of its width.
func TestBitcast(t *testing.T) {
	for _, from := range all {
		values := oddValues(from)
		for _, to := range all {
			if from == ir.Bool || to == ir.Bool || from.Bits() != to.Bits() {
				continue
			}
			k := build(t, "cast", []int{len(values)}, func(b *kernel.Builder) {
				x, y, wide := b.Pointer("x", from), b.Pointer("y", to), b.Pointer("wide", ir.I64)
				v := b.Bitcast(to, b.Load(x, b.Thread(0)))
				b.Store(y, b.Thread(0), v)
				if to.IsInt() {
					b.Store(wide, b.Thread(0), b.Convert(ir.I64, v))
				}
			})
			got, wide, want := make([]uint64, len(values)), make([]uint64, len(values)), make([]uint64, len(values))
			run(t, k, single, array(from, values...), array(to, got...), array(ir.I64, wide...))
			for i, x := range values {
				if got[i] != x {
					t.Errorf("%s to %s: %#x became %#x", from, to, x, got[i])
				}
				if to.IsInt() {
					want[i] = converted(ir.I64, to, x)
				}
			}
			compare(t, from.String()+" "+to.String(), ir.I64, wide, want)
		}
	}
}

// TestSplit splits odd numbers of every type of 64 bits.
func TestSplit(t *testing.T) {
	for _, d := range []ir.DType{ir.I64, ir.U64, ir.F64} {
		values := oddValues(d)
		k := build(t, "split", []int{len(values)}, func(b *kernel.Builder) {
			x, y, z := b.Pointer("x", d), b.Pointer("y", ir.U32), b.Pointer("z", ir.U32)
			low, high := b.Split(b.Load(x, b.Thread(0)))
			b.Store(y, b.Thread(0), low)
			b.Store(z, b.Thread(0), high)
		})
		low, high := make([]uint64, len(values)), make([]uint64, len(values))
		run(t, k, single, array(d, values...), array(ir.U32, low...), array(ir.U32, high...))
		for i, x := range values {
			if low[i] != x&math.MaxUint32 || high[i] != x>>32 {
				t.Errorf("%s: %#x is split into %#x and %#x", d, x, low[i], high[i])
			}
		}
	}
}
