package kerneltest

import (
	"math"
	"testing"
)

var (
	exact    = Accuracy{}
	flushing = Accuracy{Flushes: true}
	coarse   = Accuracy{Division: 2, Root: 6}
)

func TestAccuracyAccepts(t *testing.T) {
	inf := float32(math.Inf(1))
	reciprocal := func(x float64) float64 { return 1 / x }
	for _, c := range []struct {
		name string
		a    Accuracy
		got  float32
		x    float64
		want bool
	}{
		{"rounded", exact, 1.0 / 3, 3, true},
		{"a unit off", exact, math.Nextafter32(1.0/3, 1), 3, false},
		{"a subnormal operand", exact, inf, 0x1p-130, true}, // 2¹³⁰ overflows
		{"a subnormal result", exact, 0x1p-127, 0x1p127, true},
		{"a flushed result", exact, 0, 0x1p127, false},
		{"a flushed result of a device that flushes", flushing, 0, 0x1p127, true},
		{"a flushed operand of a device that flushes", flushing, inf, 0x1p-127, true},
		{"a flushed operand", exact, inf, 0x1p-127, false},
		{"zero for a number that is not subnormal", flushing, 0, 0x1p124, false},
		{"NaN", flushing, float32(math.NaN()), 0x1p-127, false},
	} {
		if got := c.a.accepts(c.got, reciprocal, c.x, 0.5, 0, 1); got != c.want {
			t.Errorf("%s: 1/%g = %g: accepted %t, want %t", c.name, c.x, c.got, got, c.want)
		}
	}
}

func TestAccuracyAcceptsBinary(t *testing.T) {
	divide := func(x, y float32) float32 { return x / y }
	times := func(x, y float32) float32 { return x * y }
	up := func(x float32, units int) float32 { return math.Float32frombits(math.Float32bits(x) + uint32(units)) }
	third := float32(1) / 3
	negative := float32(math.Copysign(0, -1))
	for _, c := range []struct {
		name      string
		a         Accuracy
		got, x, y float32
		divides   bool
		want      bool
	}{
		{"rounded", exact, third, 1, 3, true, true},
		{"a unit off", exact, up(third, 1), 1, 3, true, false},
		{"a unit off, corrected", coarse, up(third, 1), 1, 3, true, false},
		{"two units off, of a coarse division", coarse, up(third*0x1p-110, 2), 0x1p-110, 3, true, true},
		{"three units off, of a coarse division", coarse, up(third*0x1p-110, 3), 0x1p-110, 3, true, false},
		{"a large divisor", coarse, 0, 1, 0x1p127, true, true},
		{"a large divisor, exactly", exact, 0, 1, 0x1p127, true, false},
		{"a divisor of zero", coarse, 7, 1, 0, true, false},
		{"an infinite divisor", coarse, 7, 1, float32(math.Inf(1)), true, false},
		{"a product a unit off", coarse, up(third, 1), third, 1, false, false},
		{"a flushed operand", flushing, 0, 0x1p-130, 0x1p20, false, true},
		{"a flushed operand, exactly", exact, 0, 0x1p-130, 0x1p20, false, false},
		{"a flushed result", flushing, 0, 0x1p-100, 0x1p-30, false, true},
		{"the sign of zero", flushing, 0, negative, 1, false, false},
		{"a small number that is returned unchanged", flushing, 0x1p-130, -0x1p-130, 3, false, true},
		{"a small number that is returned unchanged, exactly", exact, 0x1p-130, -0x1p-130, 3, false, false},
		{"a number that is not small for a small one", flushing, 0x1p-125, 0x1p-130, 1, false, false},
	} {
		f := times
		if c.divides {
			f = divide
		}
		if got := c.a.acceptsBinary(c.got, f, c.x, c.y, c.divides); got != c.want {
			t.Errorf("%s: %g and %g give %g: accepted %t, want %t", c.name, c.x, c.y, c.got, got, c.want)
		}
	}
}
