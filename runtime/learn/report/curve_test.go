package report

import (
	"math"
	"testing"
)

func TestThin(t *testing.T) {
	var c Curve
	for i := range 100000 {
		v := math.Sin(float64(i) / 5000)
		if i == 70001 {
			v = 9
		}
		c.add(Point{Step: i, Value: v})
	}
	p := c.Thin(200)
	if len(p) != 200 || p[0].Step != 0 || p[199].Step != 99999 {
		t.Fatalf("%d points from %v to %v", len(p), p[0], p[len(p)-1])
	}
	peak := false
	for i, q := range p {
		peak = peak || q.Value == 9
		if i > 0 && q.Step <= p[i-1].Step {
			t.Errorf("step %d follows step %d", q.Step, p[i-1].Step)
		}
	}
	if !peak {
		t.Error("the peak is lost")
	}
	for n := range 6 {
		if got := len(c.Thin(n)); got > n {
			t.Errorf("Thin(%d) has %d points", n, got)
		}
	}
	few := Curve{Points: c.Points[:4]}
	if len(few.Thin(10)) != 4 || len(few.Thin(3)) != 3 {
		t.Error("few points")
	}
}

func TestLongCurvesAreBounded(t *testing.T) {
	var c Curve
	for i := range 5 * maxPoints {
		c.add(Point{Step: i})
	}
	if n := len(c.Points); n > maxPoints || n < maxPoints/2 || c.Points[n-1].Step < 5*maxPoints-16 {
		t.Errorf("%d points, the last %v", n, c.Points[n-1])
	}
}
