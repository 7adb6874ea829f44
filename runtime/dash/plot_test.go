//go:build unix || windows

package dash

import (
	"math"
	"testing"

	"github.com/burngen/burngen/runtime/dash/internal/progress"
	"github.com/burngen/burngen/runtime/learn"
)

func TestSmoothingAndLogarithms(t *testing.T) {
	curve := func(values ...float64) []progress.Curve {
		c := progress.Curve{Split: learn.Train}
		for i, v := range values {
			c.Full = append(c.Full, progress.Point{X: float64(i), Low: v, Mean: v, High: v})
		}
		c.Recent = c.Full[max(0, len(c.Full)-2):]
		return []progress.Curve{c}
	}
	got := lens{log: true}.chosen(curve(10, 0, -1, 1000))
	if p := got[0].Full; len(p) != 2 || p[0].Mean != 1 || math.Abs(p[1].Mean-3) > 1e-12 {
		t.Errorf("logarithms: %v", p)
	}
	if got := (lens{log: true}).chosen(curve(0, -1)); len(got) != 0 {
		t.Errorf("logarithms of what is not above 0: %v", got)
	}
	if p := (lens{recent: true}).chosen(curve(1, 2, 3))[0].Full; len(p) != 2 || p[0].Mean != 2 {
		t.Errorf("recent: %v", p)
	}
	constant := make([]float64, 100)
	for i := range constant {
		constant[i] = 7
	}
	for _, p := range (lens{smooth: 2}).chosen(curve(constant...))[0].Full {
		if math.Abs(p.Mean-7) > 1e-12 {
			t.Fatalf("smoothing changes a constant: %v", p)
		}
	}
	for i := range constant {
		constant[i] = float64(i % 2)
	}
	p := lens{smooth: 2}.chosen(curve(constant...))[0].Full
	if d := math.Abs(p[99].Mean - p[98].Mean); d > 0.2 {
		t.Errorf("smoothed values still differ by %v", d)
	}
	if got := (lens{split: learn.Valid}).chosen(curve(1, 2)); len(got) != 0 {
		t.Errorf("another split: %v", got)
	}
}
