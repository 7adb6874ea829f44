package cpu_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/burngen/burngen/runtime/cpu"
	"github.com/burngen/burngen/runtime/kerneltest"
	"github.com/burngen/burngen/runtime/rt"
)

// manyBits are bits that mean something special as elements of many types, and others.
func manyBits(n int) []uint64 {
	bits := []uint64{
		0, 1, 2, 127, 128, 255, 256, 1 << 15, 1 << 31, 1<<31 - 1, 1<<32 - 1, 1 << 63, 1<<63 - 1, 1<<64 - 1,
		0x3f800000, 0xbf800000, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0x4f000000, 0xcf000000, 0x4effffff,
		0x5f000000, 0xdf000000, 0x43800000, 0x3fc00000, 0x40200000, 0x7fa00001, 1 << 24, 1<<24 + 1, 1<<53 + 1,
		math.Float64bits(1.5), math.Float64bits(-3e9), math.Float64bits(1e300), math.Float64bits(math.Inf(-1)), math.Float64bits(1 + 0x1p-24),
	}
	state := uint64(88172645463325252)
	for len(bits) < n {
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
		bits = append(bits, state>>(state%61))
	}
	return bits[:n]
}

// elements are n elements made of bits, between guards and not aligned.
func elements[T any](n, shift int, fromBits func(bits uint64) T) *kerneltest.Slice[T] {
	s := kerneltest.NewSlice[T](n, shift)
	for i, b := range manyBits(n + shift)[shift:] {
		s.Data[i] = fromBits(b)
	}
	s.Freeze()
	return s
}

func asFloat32(b uint64) float32    { return math.Float32frombits(uint32(b)) }
func asFloat16(b uint64) rt.Float16 { return rt.Float16(b) }
func asBool(b uint64) bool          { return b%3 != 0 }
func as[T cpu.Integer](b uint64) T  { return T(b) }

// sizes are lengths near the numbers of elements that the kernels' loops process at once.
var sizes = []int{0, 1, 31, 32, 63, 64, 65, 127, 128, 200, 1000}

// atAllLevels compares the results of f at each level with those of plain Go.
func atAllLevels[T any](t *testing.T, n int, same func(a, b T) bool, f func(dst []T)) {
	t.Helper()
	restore := cpu.SetLevel(cpu.Generic)
	want := make([]T, n)
	f(want)
	restore()
	for _, l := range cpu.Levels() {
		restore := cpu.SetLevel(l)
		dst := kerneltest.NewSlice[T](n, n%5)
		f(dst.Data)
		restore()
		dst.Check(t, "dst")
		for i, w := range want {
			if !same(dst.Data[i], w) {
				t.Fatalf("%v: element %d of %d is %v, want %v", l, i, n, dst.Data[i], w)
			}
		}
	}
}

func equals[T comparable](a, b T) bool { return a == b }

// sameFloat reports whether two floats have the same bits, or both are NaN.
func sameFloat[T cpu.Float](a, b T) bool {
	return a == b && math.Signbit(float64(a)) == math.Signbit(float64(b)) || a != a && b != b
}

func testCast[D, S cpu.Real](t *testing.T, fromBits func(uint64) S, same func(a, b D) bool) {
	t.Run(fmt.Sprintf("%T to %T", *new(S), *new(D)), func(t *testing.T) {
		for _, n := range sizes {
			src := elements(n, n%3, fromBits)
			atAllLevels(t, n, same, func(dst []D) { cpu.Cast(dst, src.Data) })
			src.Check(t, "src")
		}
	})
}

func TestConversionsAgree(t *testing.T) {
	testCast[int32](t, asFloat32, equals[int32])
	testCast[int64](t, asFloat32, equals[int64])
	testCast[uint8](t, asFloat32, equals[uint8])
	testCast[int8](t, asFloat32, equals[int8])
	testCast[float64](t, asFloat32, sameFloat[float64])
	testCast[rt.Float16](t, asFloat32, equals[rt.Float16])
	testCast[float32](t, math.Float64frombits, sameFloat[float32])
	testCast[float32](t, asFloat16, sameFloat[float32])
	testCast[float32](t, as[int32], sameFloat[float32])
	testCast[int64](t, as[int32], equals[int64])
	testCast[uint64](t, as[int32], equals[uint64])
	testCast[float32](t, as[int64], sameFloat[float32])
	testCast[int32](t, as[int64], equals[int32])
	testCast[uint32](t, as[int64], equals[uint32])
	testCast[float32](t, as[uint8], sameFloat[float32])
	testCast[int32](t, as[uint8], equals[int32])
	testCast[uint32](t, as[uint8], equals[uint32])
	testCast[int64](t, as[uint8], equals[int64])
	testCast[uint64](t, as[uint8], equals[uint64])
	testCast[float32](t, as[int8], sameFloat[float32])
	for _, n := range sizes {
		src := elements(n, 1, asBool)
		atAllLevels(t, n, sameFloat[float32], func(dst []float32) { cpu.CastFromBool(dst, src.Data) })
		atAllLevels(t, n, equals[int64], func(dst []int64) { cpu.CastFromBool(dst, src.Data) })
		atAllLevels(t, n, equals[int32], func(dst []int32) { cpu.CastFromBool(dst, src.Data) })
		floats := elements(n, 1, asFloat32)
		atAllLevels(t, n, equals[bool], func(dst []bool) { cpu.CastToBool(dst, floats.Data) })
	}
}

// TestHalves asserts that every float16 becomes the same float32 at all levels, and that every
// float32 between two float16s becomes the same float16. All NaNs count as one.
func TestHalves(t *testing.T) {
	halves := make([]rt.Float16, 1<<16)
	for i := range halves {
		halves[i] = rt.Float16(i)
	}
	atAllLevels(t, len(halves), sameFloat[float32], func(dst []float32) { cpu.Cast(dst, halves) })
	floats := make([]float32, 1<<20)
	for i := range floats {
		floats[i] = math.Float32frombits(uint32(i) << 12)
	}
	for i := range floats[:1<<19] {
		floats[2*i+1] = math.Float32frombits(uint32(i)<<13 | 0x1000)
	}
	atAllLevels(t, len(floats), equals[rt.Float16], func(dst []rt.Float16) { cpu.Cast(dst, floats) })
}

func testComparisons[T cpu.Number](t *testing.T, fromBits func(uint64) T) {
	t.Run(fmt.Sprintf("%T", *new(T)), func(t *testing.T) {
		slices := map[string]func(dst []bool, a, b []T){
			"Equal": cpu.Equal[T], "Less": cpu.Less[T], "LessOrEqual": cpu.LessOrEqual[T], "Greater": cpu.Greater[T], "GreaterOrEqual": cpu.GreaterOrEqual[T],
		}
		scalars := map[string]func(dst []bool, a []T, b T){
			"Equal": cpu.EqualScalar[T], "Less": cpu.LessScalar[T], "LessOrEqual": cpu.LessOrEqualScalar[T], "Greater": cpu.GreaterScalar[T], "GreaterOrEqual": cpu.GreaterOrEqualScalar[T],
		}
		for name, f := range slices {
			for _, n := range sizes {
				a, b := elements(n, 1, fromBits), elements(n, 2, fromBits)
				for i := 0; i < n; i += 3 {
					b.Data[i] = a.Data[i]
				}
				t.Run(name, func(t *testing.T) {
					atAllLevels(t, n, equals[bool], func(dst []bool) { f(dst, a.Data, b.Data) })
					for _, y := range []T{0, fromBits(14), fromBits(0x7fc00000), fromBits(1)} {
						atAllLevels(t, n, equals[bool], func(dst []bool) { scalars[name](dst, a.Data, y) })
					}
				})
			}
		}
	})
}

func TestComparisonsAgree(t *testing.T) {
	testComparisons(t, asFloat32)
	testComparisons(t, as[int32])
	testComparisons(t, as[int64])
	for _, n := range sizes {
		x := elements(n, 1, asFloat32)
		atAllLevels(t, n, equals[bool], func(dst []bool) { cpu.IsNaN(dst, x.Data) })
	}
}

func testWhere[T comparable](t *testing.T, fromBits func(uint64) T) {
	t.Run(fmt.Sprintf("%T", *new(T)), func(t *testing.T) {
		for _, n := range sizes {
			cond, x, y := elements(n, 3, asBool), elements(n, 1, fromBits), elements(n, 2, fromBits)
			atAllLevels(t, n, equals[T], func(dst []T) { cpu.Where(dst, cond.Data, x.Data, y.Data) })
			atAllLevels(t, n, equals[T], func(dst []T) { cpu.WhereScalarX(dst, cond.Data, fromBits(5), y.Data) })
			atAllLevels(t, n, equals[T], func(dst []T) { cpu.WhereScalarY(dst, cond.Data, x.Data, fromBits(6)) })
			atAllLevels(t, n, equals[T], func(dst []T) { cpu.WhereScalars(dst, cond.Data, fromBits(5), fromBits(6)) })
			atAllLevels(t, n, equals[T], func(dst []T) {
				copy(dst, x.Data)
				cpu.Where(dst, cond.Data, dst, y.Data)
			})
			cond.Check(t, "cond")
		}
	})
}

func TestWhereAgrees(t *testing.T) {
	testWhere(t, as[int32])
	testWhere(t, as[int64])
	testWhere(t, as[uint8])
}

func TestLogicOfAllSizes(t *testing.T) {
	for _, n := range sizes {
		a, b := elements(n, 1, asBool), elements(n, 4, asBool)
		dst := kerneltest.NewSlice[bool](n, 3)
		for name, c := range map[string]struct {
			run  func(dst []bool)
			want func(a, b bool) bool
		}{
			"And":            {func(dst []bool) { cpu.And(dst, a.Data, b.Data) }, func(a, b bool) bool { return a && b }},
			"Or":             {func(dst []bool) { cpu.Or(dst, a.Data, b.Data) }, func(a, b bool) bool { return a || b }},
			"Xor":            {func(dst []bool) { cpu.Xor(dst, a.Data, b.Data) }, func(a, b bool) bool { return a != b }},
			"Not":            {func(dst []bool) { cpu.Not(dst, a.Data) }, func(a, _ bool) bool { return !a }},
			"And with true":  {func(dst []bool) { cpu.AndScalar(dst, a.Data, true) }, func(a, _ bool) bool { return a }},
			"And with false": {func(dst []bool) { cpu.AndScalar(dst, a.Data, false) }, func(a, _ bool) bool { return false }},
			"Or with true":   {func(dst []bool) { cpu.OrScalar(dst, a.Data, true) }, func(a, _ bool) bool { return true }},
			"Or with false":  {func(dst []bool) { cpu.OrScalar(dst, a.Data, false) }, func(a, _ bool) bool { return a }},
			"Xor with true":  {func(dst []bool) { cpu.XorScalar(dst, a.Data, true) }, func(a, _ bool) bool { return !a }},
			"Xor with false": {func(dst []bool) { cpu.XorScalar(dst, a.Data, false) }, func(a, _ bool) bool { return a }},
		} {
			c.run(dst.Data)
			for i, got := range dst.Data {
				if want := c.want(a.Data[i], b.Data[i]); got != want {
					t.Fatalf("%s: element %d of %d is %v", name, i, n, got)
				}
			}
			dst.Check(t, "dst")
		}
	}
}
