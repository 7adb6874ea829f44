package rt

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/burngen/burngen/internal/seeded"
)

// format is an independent description of a floating-point type of at most 16 bits. decode follows
// the definition of the type, in float64.
type format struct {
	name                     string
	bits, exponent, mantissa int
	bias                     int
	max                      uint32 // code of the largest finite number
	toFloat                  func(uint32) float32
	saturating, plain        func(float32) uint32 // plain goes to past instead of max
	past                     uint32               // what is beyond max, rounded without saturation
	fnuz                     bool
}

var formats = []format{
	{"f16", 16, 5, 10, 15, 0x7bff,
		func(c uint32) float32 { return Float16(c).Float32() }, nil,
		func(x float32) uint32 { return uint32(ToFloat16(x)) }, 0x7c00, false},
	{"bf16", 16, 8, 7, 127, 0x7f7f,
		func(c uint32) float32 { return BFloat16(c).Float32() }, nil,
		func(x float32) uint32 { return uint32(ToBFloat16(x)) }, 0x7f80, false},
	{"f8e4m3fn", 8, 4, 3, 7, 0x7e,
		func(c uint32) float32 { return Float8E4M3FN(c).Float32() },
		func(x float32) uint32 { return uint32(ToFloat8E4M3FN(x, true)) },
		func(x float32) uint32 { return uint32(ToFloat8E4M3FN(x, false)) }, 0x7f, false},
	{"f8e4m3fnuz", 8, 4, 3, 8, 0x7f,
		func(c uint32) float32 { return Float8E4M3FNUZ(c).Float32() },
		func(x float32) uint32 { return uint32(ToFloat8E4M3FNUZ(x, true)) },
		func(x float32) uint32 { return uint32(ToFloat8E4M3FNUZ(x, false)) }, 0x80, true},
	{"f8e5m2", 8, 5, 2, 15, 0x7b,
		func(c uint32) float32 { return Float8E5M2(c).Float32() },
		func(x float32) uint32 { return uint32(ToFloat8E5M2(x, true)) },
		func(x float32) uint32 { return uint32(ToFloat8E5M2(x, false)) }, 0x7c, false},
	{"f8e5m2fnuz", 8, 5, 2, 16, 0x7f,
		func(c uint32) float32 { return Float8E5M2FNUZ(c).Float32() },
		func(x float32) uint32 { return uint32(ToFloat8E5M2FNUZ(x, true)) },
		func(x float32) uint32 { return uint32(ToFloat8E5M2FNUZ(x, false)) }, 0x80, true},
	{"f4e2m1", 4, 2, 1, 1, 7,
		func(c uint32) float32 { return Float4E2M1(c).Float32() },
		func(x float32) uint32 { return uint32(ToFloat4E2M1(x)) }, nil, 0, false},
}

// value returns the number that a finite code of positive sign stands for.
func (f *format) value(code uint32) float64 {
	e, m := int(code>>f.mantissa), float64(code&(1<<f.mantissa-1))
	if e == 0 {
		return math.Ldexp(m, 1-f.bias-f.mantissa)
	}
	return math.Ldexp(math.Ldexp(1, f.mantissa)+m, e-f.bias-f.mantissa)
}

// sign returns the bit of the sign.
func (f *format) sign() uint32 { return 1 << (f.bits - 1) }

// negative returns the code of the negative of a code that encode returned.
func (f *format) negative(code uint32) uint32 {
	if f.fnuz && (code == 0 || code == f.sign()) {
		return code
	}
	return code | f.sign()
}

func TestFloatsDecode(t *testing.T) {
	for _, f := range formats {
		t.Run(f.name, func(t *testing.T) {
			for code := uint32(0); code <= f.max; code++ {
				if got, want := float64(f.toFloat(code)), f.value(code); got != want || math.Signbit(got) {
					t.Fatalf("%#x is %v, want %v", code, got, want)
				}
				if f.fnuz && code == 0 {
					continue
				}
				got, want := float64(f.toFloat(code|f.sign())), -f.value(code)
				if got != want || !math.Signbit(got) {
					t.Fatalf("%#x is %v, want %v", code|f.sign(), got, want)
				}
			}
			for code := f.max + 1; code < f.sign(); code++ {
				isInf := f.name == "f16" && code == 0x7c00 || f.name == "bf16" && code == 0x7f80 || f.name == "f8e5m2" && code == 0x7c
				for _, signed := range []uint32{code, code | f.sign()} {
					got := float64(f.toFloat(signed))
					if isInf && !math.IsInf(got, 1-2*int(signed>>(f.bits-1))) || !isInf && got == got {
						t.Errorf("%#x is %v", signed, got)
					}
				}
			}
			if got := f.toFloat(f.sign()); f.fnuz && got == got {
				t.Errorf("%#x is %v, want NaN", f.sign(), got)
			}
		})
	}
}

// next returns the float32 after x, toward +∞.
func next(x float32) float32 { return math.Nextafter32(x, float32(math.Inf(1))) }

func prev(x float32) float32 { return math.Nextafter32(x, float32(math.Inf(-1))) }

// TestFloatsRound tries every number of a type, every tie between two of them
// and both neighbours of each tie.
func TestFloatsRound(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, f := range formats {
		for _, saturate := range []bool{false, true} {
			encode, past := f.plain, f.past
			if saturate {
				encode, past = f.saturating, f.max
			}
			if encode == nil {
				continue
			}
			t.Run(fmt.Sprintf("%s saturate=%v", f.name, saturate), func(t *testing.T) {
				check := func(x float32, want uint32) {
					if got := encode(x); got != want {
						t.Fatalf("%v becomes %#x, want %#x", x, got, want)
					}
					if got, want := encode(-x), f.negative(want); got != want {
						t.Fatalf("%v becomes %#x, want %#x", -x, got, want)
					}
				}
				for code := uint32(0); code <= f.max; code++ {
					check(f.toFloat(code), code)
					above := code + 1
					even := code + code&1
					if code == f.max {
						above = past
						if code&1 == 0 {
							even = code
						} else {
							even = past
						}
					}
					tie := (f.value(code) + f.value(code+1)) / 2
					if float64(float32(tie)) != tie {
						t.Fatalf("tie %v after %#x is not a float32", tie, code)
					}
					check(float32(tie), even)
					if tie > 0 {
						check(prev(float32(tie)), code)
					}
					if x := next(float32(tie)); x < inf {
						check(x, above)
					}
				}
				check(math.MaxFloat32, past)
				check(inf, past)
			})
		}
	}
}

func TestNaNs(t *testing.T) {
	nan := float32(math.NaN())
	signalling := math.Float32frombits(0xff800001)
	for _, tt := range []struct {
		name string
		got  uint32
		want uint32
	}{
		{"f16", uint32(ToFloat16(nan)), 0x7e00},
		{"f16 payload beyond 10 bits", uint32(ToFloat16(signalling)), 0xfe00},
		{"f16 payload", uint32(ToFloat16(math.Float32frombits(0x7fc02000))), 0x7e01},
		{"bf16", uint32(ToBFloat16(nan)), 0x7fc0},
		{"bf16 payload beyond 7 bits", uint32(ToBFloat16(signalling)), 0xffc0},
		{"bf16 that rounding would make 0", uint32(ToBFloat16(math.Float32frombits(0xffffffff))), 0xffff},
		{"f8e4m3fn", uint32(ToFloat8E4M3FN(nan, true)), 0x7f},
		{"f8e4m3fn negative", uint32(ToFloat8E4M3FN(-nan, true)), uint32(0x7f | math.Float32bits(-nan)>>31<<7)},
		{"f8e4m3fnuz", uint32(ToFloat8E4M3FNUZ(nan, true)), 0x80},
		{"f8e5m2", uint32(ToFloat8E5M2(nan, true)), 0x7e},
		{"f8e5m2fnuz", uint32(ToFloat8E5M2FNUZ(signalling, false)), 0x80},
		{"f8e8m0", uint32(ToFloat8E8M0(nan, true, RoundUp)), 0xff},
		{"f4e2m1", uint32(ToFloat4E2M1(nan)), 8},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %#x, want %#x", tt.name, tt.got, tt.want)
		}
	}
}

func TestRoundToOdd(t *testing.T) {
	// nearest finds the code of f that is nearest to x, ties to even, by search.
	nearest := func(f *format, x float64) uint32 {
		lo, hi := uint32(0), f.max+1 // hi stands for what is past max
		for hi-lo > 1 {
			if mid := (lo + hi) / 2; f.value(mid) <= x {
				lo = mid
			} else {
				hi = mid
			}
		}
		below, above := x-f.value(lo), f.value(hi)-x // exact: x has at most a few bits more
		switch {
		case below < above || below == above && lo&1 == 0:
			return lo
		case hi > f.max:
			return f.past
		}
		return hi
	}
	f16, bf16 := &formats[0], &formats[1]
	rapid.Check(t, func(t *rapid.T) {
		code := rapid.Uint32Range(0, f16.max).Draw(t, "code")
		tie := (f16.value(code) + f16.value(code+1)) / 2
		for _, x := range []float64{tie, math.Nextafter(tie, 0), math.Nextafter(tie, math.Inf(1)), rapid.Float64Range(0, 1e5).Draw(t, "x")} {
			if got, want := uint32(ToFloat16(RoundToOdd(x))), nearest(f16, x); got != want {
				t.Fatalf("f16 of %v is %#x, want %#x", x, got, want)
			}
			if got, want := uint32(ToFloat16(RoundToOdd(-x))), nearest(f16, x)|0x8000; got != want {
				t.Fatalf("f16 of %v is %#x, want %#x", -x, got, want)
			}
		}
		code = rapid.Uint32Range(0, bf16.max).Draw(t, "code")
		tie = (bf16.value(code) + bf16.value(code+1)) / 2
		for _, x := range []float64{tie, math.Nextafter(tie, 0), math.Nextafter(tie, math.Inf(1))} {
			if got, want := uint32(ToBFloat16(RoundToOdd(x))), nearest(bf16, x); got != want {
				t.Fatalf("bf16 of %v is %#x, want %#x", x, got, want)
			}
		}
	})
	for _, tt := range []struct {
		x    float64
		want float32
	}{
		{0, 0},
		{1.5, 1.5},
		{math.Inf(1), float32(math.Inf(1))},
		{1e300, math.MaxFloat32},
		{-1e300, -math.MaxFloat32},
		{1e-300, math.SmallestNonzeroFloat32},
		{-1e-300, -math.SmallestNonzeroFloat32},
	} {
		if got := RoundToOdd(tt.x); got != tt.want {
			t.Errorf("RoundToOdd(%v) = %v, want %v", tt.x, got, tt.want)
		}
	}
	if got := RoundToOdd(math.NaN()); got == got {
		t.Errorf("RoundToOdd(NaN) = %v", got)
	}
	if got := RoundToOdd(math.Copysign(0, -1)); !math.Signbit(float64(got)) {
		t.Errorf("RoundToOdd(-0) = %v", got)
	}
}

// TestFloatsBeyondRange checks the table of ONNX Cast for values out of range. Infinities that
// saturate follow ONNX's own tests.
func TestFloatsBeyondRange(t *testing.T) {
	inf := float32(math.Inf(1))
	inputs := []float32{1, 1e6, -1e6, 1e-7, -1e-7, inf, -inf}
	for _, tt := range []struct {
		name            string
		saturating      func(float32) uint8
		want, wantPlain []uint8
		plain           func(float32) uint8
	}{
		{"f8e4m3fn",
			func(x float32) uint8 { return uint8(ToFloat8E4M3FN(x, true)) },
			[]uint8{0x38, 0x7e, 0xfe, 0, 0x80, 0x7e, 0xfe},
			[]uint8{0x38, 0x7f, 0xff, 0, 0x80, 0x7f, 0xff},
			func(x float32) uint8 { return uint8(ToFloat8E4M3FN(x, false)) }},
		{"f8e4m3fnuz",
			func(x float32) uint8 { return uint8(ToFloat8E4M3FNUZ(x, true)) },
			[]uint8{0x40, 0x7f, 0xff, 0, 0, 0x7f, 0xff},
			[]uint8{0x40, 0x80, 0x80, 0, 0, 0x80, 0x80},
			func(x float32) uint8 { return uint8(ToFloat8E4M3FNUZ(x, false)) }},
		{"f8e5m2",
			func(x float32) uint8 { return uint8(ToFloat8E5M2(x, true)) },
			[]uint8{0x3c, 0x7b, 0xfb, 0, 0x80, 0x7b, 0xfb},
			[]uint8{0x3c, 0x7c, 0xfc, 0, 0x80, 0x7c, 0xfc},
			func(x float32) uint8 { return uint8(ToFloat8E5M2(x, false)) }},
		{"f8e5m2fnuz",
			func(x float32) uint8 { return uint8(ToFloat8E5M2FNUZ(x, true)) },
			[]uint8{0x40, 0x7f, 0xff, 0, 0, 0x7f, 0xff},
			[]uint8{0x40, 0x80, 0x80, 0, 0, 0x80, 0x80},
			func(x float32) uint8 { return uint8(ToFloat8E5M2FNUZ(x, false)) }},
		{"f4e2m1",
			func(x float32) uint8 { return uint8(ToFloat4E2M1(x)) },
			[]uint8{2, 7, 0xf, 0, 8, 7, 0xf},
			[]uint8{2, 7, 0xf, 0, 8, 7, 0xf},
			func(x float32) uint8 { return uint8(ToFloat4E2M1(x)) }},
	} {
		for i, x := range inputs {
			if got := tt.saturating(x); got != tt.want[i] {
				t.Errorf("%s: %v saturates to %#x, want %#x", tt.name, x, got, tt.want[i])
			}
			if got := tt.plain(x); got != tt.wantPlain[i] {
				t.Errorf("%s: %v becomes %#x, want %#x", tt.name, x, got, tt.wantPlain[i])
			}
		}
	}
}
