package narrow

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// elements are the types of values that are not integers of 64 bits.
var elements = []ir.DType{ir.Bool, ir.I8, ir.U8, ir.I16, ir.U16, ir.I32, ir.U32, ir.F16, ir.BF16, ir.F32, ir.F64}

// TestFromPair converts integers of 64 bits to every type: those of [numbers], ties of the floats and what is
// next to them, and random ones.
func TestFromPair(t *testing.T) {
	list := numbers()
	r := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		list = append(list, r.Uint64()>>r.UintN(64))
	}
	for _, bits := range []int{8, 11, 24, 53} { // of the significands of bf16, f16, f32 and f64
		for up := bits; up < 63; up++ {
			tie := (r.Uint64()>>(64-bits) | 1<<(bits-1)) << (up - bits + 1)
			tie |= 1 << (up - bits)
			list = append(list, tie, tie+1, tie-1, -tie, -tie+1, -tie-1)
		}
	}
	for _, d := range wide {
		for _, to := range append(wide, elements...) {
			agreeOn(t, to, []ir.DType{d}, [][]byte{memory(list)}, func(b *kernel.Builder, v []*kernel.Value) *kernel.Value {
				return b.Convert(to, v[0])
			})
		}
	}
}

// TestToPair converts values of every type to integers of 64 bits.
func TestToPair(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, d := range elements {
		var x []byte
		switch {
		case d == ir.Bool:
			x = []byte{0, 1}
		case d == ir.F32:
			x = memory(floats(r, 24, func(x float64) float32 { return float32(x) }))
		case d == ir.F64:
			x = memory(floats(r, 53, func(x float64) float64 { return x }))
		case d.Bits() == 32:
			x = memory([]uint32{0, 1, 2, 1<<31 - 1, 1 << 31, 1<<31 + 1, math.MaxUint32, math.MaxUint32 - 1})
		default: // all of 16 bits, which are also all of 8
			all := make([]uint16, 1<<16)
			for i := range all {
				all[i] = uint16(i)
			}
			x = memory(all)
		}
		for _, to := range wide {
			agreeOn(t, to, []ir.DType{d}, [][]byte{x}, func(b *kernel.Builder, v []*kernel.Value) *kernel.Value {
				return b.Convert(to, v[0])
			})
		}
	}
}

// floats returns floats with a significand of these many bits: in and out of the range of integers, and NaN.
func floats[T float32 | float64](r *rand.Rand, bits int, round func(float64) T) []T {
	list := []T{0, round(math.Copysign(0, -1)), 0.5, 0.999, 1.5, round(math.NaN()), round(math.Inf(1)), round(math.SmallestNonzeroFloat64), 1e-40, 1e30}
	for _, x := range []float64{1 << 31, 1 << 32, 1 << 33, 1 << 63, 1 << 64} {
		list = append(list, round(x), round(x*(1+math.Ldexp(1, 1-bits))), round(x*(1-math.Ldexp(1, -bits))))
	}
	for range 2000 {
		list = append(list, round(math.Ldexp(r.Float64()+0.5, r.IntN(70))))
	}
	for _, x := range list {
		list = append(list, -x)
	}
	return list
}

// TestBitcast converts the bits of values of 64 bits.
func TestBitcast(t *testing.T) {
	list := numbers()
	for _, from := range []ir.DType{ir.I64, ir.U64, ir.F64} {
		for _, to := range wide {
			agreeOn(t, to, []ir.DType{from}, [][]byte{memory(list)}, func(b *kernel.Builder, v []*kernel.Value) *kernel.Value {
				if from == to {
					return b.Add(v[0], b.Whole(to, 1))
				}
				return b.Bitcast(to, v[0])
			})
		}
	}
}
