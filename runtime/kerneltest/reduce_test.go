package kerneltest

import (
	"math"
	"slices"
	"testing"
)

// reduction returns the case of a reduction.
func reduction(t *testing.T, name string) *ReduceCase {
	i := slices.IndexFunc(Reductions, func(c ReduceCase) bool { return c.Name == name })
	if i < 0 {
		t.Fatalf("there is no reduction %s", name)
	}
	return &Reductions[i]
}

// TestReduceAccepts compares results that are as far off as the order of the steps can make them, and farther.
func TestReduceAccepts(t *testing.T) {
	product := []float64{0.75, 0.625, 0.875, 0.9375}
	exactly := 0.75 * 0.625 * 0.875 * 0.9375
	off := func(units float64) float32 { return float32(exactly * (1 + units/(1<<24))) }
	inf, nan := math.Inf(1), float32(math.NaN())
	for _, c := range []struct {
		what, name string
		a          Accuracy
		got        float32
		line       []float64
		want       bool
	}{
		{"three roundings of four factors", "Prod", exact, off(3), product, true},
		{"five roundings of four factors", "Prod", exact, off(5), product, false},
		{"no rounding of one factor", "Prod", exact, math.Nextafter32(0.75, 1), product[:1], false},
		{"infinity", "Prod", exact, float32(inf), []float64{inf, 0.5, 0.5}, true},
		{"NaN for infinity", "Prod", exact, nan, []float64{inf, 0.5, 0.5}, false},
		{"infinity times what underflows", "Prod", exact, nan, []float64{0x1p-100, inf, 0x1p-60}, true},
		{"infinity times what is flushed", "Prod", flushing, nan, []float64{0x1p-100, inf, 0x1p-30}, true},
		{"infinity times a subnormal", "Prod", exact, nan, []float64{0x1p-100, inf, 0x1p-30}, false},
		{"a product of what underflows", "Prod", exact, nan, []float64{0x1p-100, 0x1p-60}, false},
		{"the greatest", "Max", exact, 0x1p-130, []float64{-1, 0x1p-130}, true},
		{"the next to the greatest", "Max", exact, 0, []float64{-1, 0x1p-149}, false},
		{"a flushed greatest", "Max", flushing, 0, []float64{-1, 0x1p-149}, true},
		{"a root", "L2", exact, math.Nextafter32(1, 2), []float64{1}, true},
		{"a coarse root", "L2", coarse, 1 + 9*0x1p-23, []float64{1}, true},
		{"a coarse root, exactly", "L2", exact, 1 + 9*0x1p-23, []float64{1}, false},
	} {
		if got := reduction(t, c.name).accepts(c.got, c.line, c.a); got != c.want {
			t.Errorf("%s: %s of %g is %g: accepted %t, want %t", c.what, c.name, c.line, c.got, got, c.want)
		}
	}
}
