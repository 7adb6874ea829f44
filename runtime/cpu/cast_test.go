package cpu_test

import (
	"math"
	"slices"
	"testing"

	"github.com/burngen/burngen/runtime/cpu"
	"github.com/burngen/burngen/runtime/rt"
)

func castTo[D, S cpu.Real](src ...S) []D {
	dst := make([]D, len(src))
	cpu.Cast(dst, src)
	return dst
}

func expect[D comparable](t *testing.T, what string, got []D, want ...D) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\ngot  %v\nwant %v", what, got, want)
	}
}

func TestCastFloatToInteger(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	x := []float64{1.9, -1.9, 300, -129, 3e9, -3e9, 1e19, 3e19, -1e19, inf, -inf, nan}
	const i32, i64 = math.MinInt32, math.MinInt64
	expect(t, "int64", castTo[int64](x...), 1, -1, 300, -129, 3e9, -3e9, i64, i64, i64, i64, i64, i64)
	expect(t, "int32", castTo[int32](x...), 1, -1, 300, -129, i32, i32, i32, i32, i32, i32, i32, i32)
	expect(t, "int16", castTo[int16](x...), 1, -1, 300, -129, 0, 0, 0, 0, 0, 0, 0, 0)
	expect(t, "int8", castTo[int8](x...), 1, -1, 44, 127, 0, 0, 0, 0, 0, 0, 0, 0)
	expect(t, "uint8", castTo[uint8](x...), 1, 255, 44, 127, 0, 0, 0, 0, 0, 0, 0, 0)
	expect(t, "uint16", castTo[uint16](x...), 1, 65535, 300, 65407, 0, 0, 0, 0, 0, 0, 0, 0)
	expect(t, "uint32", castTo[uint32](x...), 1, 1<<32-1, 300, 1<<32-129, 3e9, 1<<32-3e9, 0, 0, 0, 0, 0, 0)
	expect(t, "uint64", castTo[uint64](x...), 1, 1<<64-1, 300, 1<<64-129, 3e9, 1<<64-3e9, 1e19, 0, 1<<63, 0, 1<<63, 1<<63)
	expect(t, "float32 to int32", castTo[int32](float32(-2.5), 16777216, float32(nan)), -2, 16777216, i32)
	expect(t, "the ends of int32", castTo[int32](math.MaxInt32+0.5, math.MinInt32-0.5, math.MaxInt32+1, math.MinInt32-1), math.MaxInt32, i32, i32, i32)
}

func TestCastNumbers(t *testing.T) {
	expect(t, "int64 to int8", castTo[int8](int64(300), -129, 1<<40), 44, 127, 0)
	expect(t, "int8 to uint64", castTo[uint64](int8(-1), 5), 1<<64-1, 5)
	expect(t, "int64 to float32", castTo[float32](int64(1<<24+1), 1<<24+3, math.MaxInt64), 1<<24, 1<<24+4, 1<<63)
	expect(t, "uint64 to float32", castTo[float32](uint64(math.MaxUint64), 1<<40+1<<16), 1<<64, 1<<40+0)
	expect(t, "float64 to float32", castTo[float32](1+0x1p-24, 1+0x1.8p-23, 1e300, -1e-60), 1, 1+0x1p-22, float32(math.Inf(1)), 0)
	expect(t, "float32 to float64", castTo[float64](float32(0.1)), float64(float32(0.1)))
}

func TestCastStored(t *testing.T) {
	expect(t, "float32 to float16", castTo[rt.Float16](float32(1), -2, 65520, 1+0x1p-11), 0x3c00, 0xc000, 0x7c00, 0x3c00)
	expect(t, "float64 rounds once", castTo[rt.Float16](1+0x1p-11+0x1p-40), 0x3c01)
	expect(t, "integers to bfloat16", castTo[rt.BFloat16](int32(1), -3, 257), 0x3f80, 0xc040, 0x4380)
	expect(t, "float16 to float32", castTo[float32](rt.Float16(0x3c00), 0xfc00, 1), 1, float32(math.Inf(-1)), 0x1p-24)
	expect(t, "float16 to int8", castTo[int8](rt.Float16(0x4248), 0xc248), 3, -3)
	expect(t, "float16 to bfloat16", castTo[rt.BFloat16](rt.Float16(0x3c00)), 0x3f80)
	expect(t, "float16 to float16", castTo[rt.Float16](rt.Float16(0x3c01)), 0x3c01)
	expect(t, "float32 to 8 bits", castTo[rt.Float8E4M3FN](float32(448), 1000, 1), 0x7e, 0x7e, 0x38)
	expect(t, "8 bits to float64", castTo[float64](rt.Float8E5M2(0x3c), 0xc0), 1, -2)
	expect(t, "8 bits to 8 bits", castTo[rt.Float8E5M2](rt.Float8E4M3FN(0x38)), 0x3c)
	expect(t, "4 bits", castTo[rt.Float4E2M1](float32(6), 100, -0.5), 7, 7, 9)

	long := make([]int32, 1000)
	for i := range long {
		long[i] = int32(i)
	}
	back := castTo[int32](castTo[rt.Float16](long...)...)
	expect(t, "more than a part", back, long...)

	e4 := make([]rt.Float8E4M3FN, 2)
	cpu.CastUnsaturated(e4, []float64{1000, 1})
	expect(t, "unsaturated", e4, 0x7f, 0x38)
	e5 := make([]rt.Float8E5M2, 1)
	cpu.CastUnsaturated(e5, []rt.BFloat16{0x7f00})
	expect(t, "unsaturated with infinities", e5, 0x7c)
	e8 := make([]rt.Float8E8M0, 2)
	cpu.CastE8M0(e8, []float32{3, 3}, true, rt.RoundUp)
	expect(t, "powers up", e8, 129, 129)
	cpu.CastE8M0(e8, []float64{3, 1}, true, rt.RoundDown)
	expect(t, "powers down", e8, 128, 127)
}

func TestCastBool(t *testing.T) {
	to := func(got []bool, want string) {
		t.Helper()
		if digits(got) != want {
			t.Errorf("got %v, want %v", digits(got), want)
		}
	}
	b := make([]bool, 4)
	cpu.CastToBool(b, []float64{0, math.Copysign(0, -1), math.NaN(), 1e-300})
	to(b, "0011")
	cpu.CastToBool(b, []int8{0, 1, -1, 2})
	to(b, "0111")
	cpu.CastToBool(b, []rt.Float16{0, 0x8000, 0x3c00, 1})
	to(b, "0011")
	f, i, h := make([]float32, 2), make([]int64, 2), make([]rt.Float16, 2)
	cpu.CastFromBool(f, []bool{false, true})
	cpu.CastFromBool(i, []bool{true, false})
	cpu.CastFromBool(h, []bool{false, true})
	expect(t, "float32", f, 0, 1)
	expect(t, "int64", i, 1, 0)
	expect(t, "float16", h, 0, 0x3c00)
}
