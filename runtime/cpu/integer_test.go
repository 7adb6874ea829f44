package cpu_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/burngen/burngen/runtime/cpu"
)

func TestIntegerArithmetic(t *testing.T) {
	a := []int8{127, -128, 7, -7, 7, -7, 0, 100}
	b := []int8{1, -1, 2, 2, -2, -2, 5, 100}
	for name, c := range map[string]struct {
		f    func(dst, a, b []int8)
		want []int8
	}{
		"add wraps":                        {cpu.Add[int8], []int8{-128, 127, 9, -5, 5, -9, 5, -56}},
		"sub wraps":                        {cpu.Sub[int8], []int8{126, -127, 5, -9, 9, -5, -5, 0}},
		"mul wraps":                        {cpu.Mul[int8], []int8{127, -128, 14, -14, -14, 14, 0, 16}},
		"min":                              {cpu.Min[int8], []int8{1, -128, 2, -7, -2, -7, 0, 100}},
		"max":                              {cpu.Max[int8], []int8{127, -1, 7, 2, 7, -2, 5, 100}},
		"power wraps, is 0 when negative":  {cpu.PowInt[int8], []int8{127, 0, 49, 49, 0, 0, 0, 0}},
		"and":                              {cpu.BitAnd[int8], []int8{1, -128, 2, 0, 6, -8, 0, 100}},
		"or":                               {cpu.BitOr[int8], []int8{127, -1, 7, -5, -1, -1, 5, 100}},
		"exclusive or":                     {cpu.BitXor[int8], []int8{126, 127, 5, -5, -7, 7, 5, 0}},
		"quotient goes toward zero, wraps": {fallible(cpu.DivInt[int8]), []int8{127, -128, 3, -3, -3, 3, 0, 1}},
		"remainder like the dividend":      {fallible(cpu.Rem[int8]), []int8{0, 0, 1, -1, 1, -1, 0, 0}},
		"remainder like the divisor":       {fallible(cpu.Mod[int8]), []int8{0, 0, 1, 1, -1, -1, 0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			got := make([]int8, len(a))
			c.f(got, a, b)
			if !slices.Equal(got, c.want) {
				t.Errorf("got  %v\nwant %v", got, c.want)
			}
		})
	}
}

// fallible turns a kernel that must not fail into one that cannot.
func fallible(f func(dst, a, b []int8) error) func(dst, a, b []int8) {
	return func(dst, a, b []int8) {
		if err := f(dst, a, b); err != nil {
			panic(err)
		}
	}
}

// The scalar forms agree with the form of slices.
func TestIntegerScalars(t *testing.T) {
	a := []int16{9, -9, 4, 300, 1, -1, 8, 5}
	for name, c := range map[string]struct {
		slices func(dst, a, b []int16) error
		scalar func(dst, a []int16, b int16) error
		first  func(dst []int16, a int16, b []int16) error
	}{
		"div": {cpu.DivInt[int16], cpu.DivIntScalar[int16], cpu.ScalarDivInt[int16]},
		"rem": {cpu.Rem[int16], cpu.RemScalar[int16], cpu.ScalarRem[int16]},
		"mod": {cpu.Mod[int16], cpu.ModScalar[int16], cpu.ScalarMod[int16]},
		"pow": {sure(cpu.PowInt[int16]), sure2(cpu.PowIntScalar[int16]), sure3(cpu.ScalarPowInt[int16])},
		"and": {sure(cpu.BitAnd[int16]), sure2(cpu.BitAndScalar[int16]), nil},
		"or":  {sure(cpu.BitOr[int16]), sure2(cpu.BitOrScalar[int16]), nil},
		"xor": {sure(cpu.BitXor[int16]), sure2(cpu.BitXorScalar[int16]), nil},
		"add": {sure(cpu.Add[int16]), sure2(cpu.AddScalar[int16]), nil},
		"sub": {sure(cpu.Sub[int16]), sure2(cpu.SubScalar[int16]), sure3(cpu.ScalarSub[int16])},
		"mul": {sure(cpu.Mul[int16]), sure2(cpu.MulScalar[int16]), nil},
		"min": {sure(cpu.Min[int16]), sure2(cpu.MinScalar[int16]), nil},
		"max": {sure(cpu.Max[int16]), sure2(cpu.MaxScalar[int16]), nil},
	} {
		t.Run(name, func(t *testing.T) {
			for _, s := range []int16{-7, -1, 1, 2, 5} {
				all := slices.Repeat([]int16{s}, len(a))
				want, got := make([]int16, len(a)), make([]int16, len(a))
				if err := errors.Join(c.slices(want, a, all), c.scalar(got, a, s)); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got, want) {
					t.Errorf("with the scalar %d: got %v, want %v", s, got, want)
				}
				if c.first == nil {
					continue
				}
				if err := errors.Join(c.slices(want, all, a), c.first(got, s, a)); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(got, want) {
					t.Errorf("of the scalar %d: got %v, want %v", s, got, want)
				}
			}
		})
	}
}

func sure(f func(dst, a, b []int16)) func(dst, a, b []int16) error {
	return func(dst, a, b []int16) error { f(dst, a, b); return nil }
}

func sure2(f func(dst, a []int16, b int16)) func(dst, a []int16, b int16) error {
	return func(dst, a []int16, b int16) error { f(dst, a, b); return nil }
}

func sure3(f func(dst []int16, a int16, b []int16)) func(dst []int16, a int16, b []int16) error {
	return func(dst []int16, a int16, b []int16) error { f(dst, a, b); return nil }
}

func TestDivisionByZero(t *testing.T) {
	one, zero, dst := []uint32{1, 1}, []uint32{1, 0}, make([]uint32, 2)
	for name, err := range map[string]error{
		"div": cpu.DivInt(dst, one, zero), "div by a scalar": cpu.DivIntScalar(dst, one, 0), "div of a scalar": cpu.ScalarDivInt(dst, 1, zero),
		"rem": cpu.Rem(dst, one, zero), "rem by a scalar": cpu.RemScalar(dst, one, 0), "rem of a scalar": cpu.ScalarRem(dst, 1, zero),
		"mod": cpu.Mod(dst, one, zero), "mod by a scalar": cpu.ModScalar(dst, one, 0), "mod of a scalar": cpu.ScalarMod(dst, 1, zero),
	} {
		if !errors.Is(err, cpu.ErrDivideByZero) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := cpu.DivIntScalar(dst[:0], one, 0); err != nil {
		t.Errorf("of nothing: %v", err)
	}
}

func TestShift(t *testing.T) {
	a, b, dst := []uint8{1, 255, 128, 3}, []uint8{0, 1, 7, 9}, make([]uint8, 4)
	for _, c := range []struct {
		name string
		run  func()
		want []uint8
	}{
		{"left", func() { cpu.ShiftLeft(dst, a, b) }, []uint8{1, 254, 0, 0}},
		{"left by a scalar", func() { cpu.ShiftLeftScalar(dst, a, 2) }, []uint8{4, 252, 0, 12}},
		{"a scalar left", func() { cpu.ScalarShiftLeft(dst, 3, b) }, []uint8{3, 6, 128, 0}},
		{"right", func() { cpu.ShiftRight(dst, a, b) }, []uint8{1, 127, 1, 0}},
		{"right by a scalar", func() { cpu.ShiftRightScalar(dst, a, 2) }, []uint8{0, 63, 32, 0}},
		{"a scalar right", func() { cpu.ScalarShiftRight(dst, 255, b) }, []uint8{255, 127, 1, 0}},
		{"not", func() { cpu.BitNot(dst, a) }, []uint8{254, 0, 127, 252}},
	} {
		if c.run(); !slices.Equal(dst, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, dst, c.want)
		}
	}
}

func TestIntegerUnary(t *testing.T) {
	x, dst := []int32{5, 0, -3, math.MinInt32, math.MaxInt32}, make([]int32, 5)
	for _, c := range []struct {
		name string
		run  func()
		want []int32
	}{
		{"neg", func() { cpu.Neg(dst, x) }, []int32{-5, 0, 3, math.MinInt32, -math.MaxInt32}},
		{"abs", func() { cpu.Abs(dst, x) }, []int32{5, 0, 3, math.MinInt32, math.MaxInt32}},
		{"sign", func() { cpu.Sign(dst, x) }, []int32{1, 0, -1, -1, 1}},
		{"relu", func() { cpu.Relu(dst, x) }, []int32{5, 0, 0, 0, math.MaxInt32}},
		{"clip", func() { cpu.Clip(dst, x, -1, 4) }, []int32{4, 0, -1, -1, 4}},
		{"shrink", func() { cpu.Shrink(dst, x, 1, 3) }, []int32{4, 0, 0, math.MinInt32 + 1, math.MaxInt32 - 1}},
	} {
		if c.run(); !slices.Equal(dst, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, dst, c.want)
		}
	}
	u := []uint8{0, 7, 255}
	cpu.Sign(u, u)
	if !slices.Equal(u, []uint8{0, 1, 1}) {
		t.Errorf("sign of unsigned: %v", u)
	}
}

func TestPower(t *testing.T) {
	x, dst := []float64{2, -3, 0.5, 0, 9}, make([]float64, 5)
	for _, b := range []float64{0, 1, 2, 3, -1, 0.5, -2, 7.25} {
		cpu.PowScalar(dst, x, b)
		for i, v := range x {
			if want := math.Pow(v, b); math.Abs(dst[i]-want) > 1e-15*math.Abs(want) && want == want {
				t.Errorf("%v to the %v is %v, want %v", v, b, dst[i], want)
			}
		}
		cpu.ScalarPow(dst, b, x)
		for i, v := range x {
			if want := math.Pow(b, v); dst[i] != want && want == want {
				t.Errorf("%v to the %v is %v, want %v", b, v, dst[i], want)
			}
		}
	}
}

func TestFmod(t *testing.T) {
	a, b, dst := []float32{5.5, -5.5, 5.5, 1}, []float32{2, 2, -2, float32(math.Inf(1))}, make([]float32, 4)
	cpu.Fmod(dst, a, b)
	if !slices.Equal(dst, []float32{1.5, -1.5, 1.5, 1}) {
		t.Errorf("got %v", dst)
	}
	cpu.FmodScalar(dst, a, 2)
	if !slices.Equal(dst, []float32{1.5, -1.5, 1.5, 1}) {
		t.Errorf("by a scalar: got %v", dst)
	}
	cpu.ScalarFmod(dst, 5, b)
	if !slices.Equal(dst, []float32{1, 1, 1, 5}) {
		t.Errorf("of a scalar: got %v", dst)
	}
}

func TestWrapBits(t *testing.T) {
	signed, unsigned := make([]int8, 6), make([]uint8, 6)
	cpu.WrapBits(signed, []int8{7, 8, -8, -9, 127, 16}, 4)
	expect(t, "signed", signed, 7, -8, -8, 7, -1, 0)
	cpu.WrapBits(unsigned, []uint8{15, 16, 255, 200, 1, 0}, 4)
	expect(t, "unsigned", unsigned, 15, 0, 15, 8, 1, 0)
	cpu.WrapBits(signed, []int8{1, 2, 3, 4, -2, -3}, 2)
	expect(t, "two bits", signed, 1, -2, -1, 0, -2, 1)
}
