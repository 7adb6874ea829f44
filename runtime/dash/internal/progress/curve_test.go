package progress

import (
	"math"
	"testing"
)

func TestCurvesAreThinned(t *testing.T) {
	const n = 100_000
	c := newCurve()
	for i := range n {
		c.add(float64(i), float64(i%7))
		c.add(float64(i), math.NaN()) // no data
		c.add(float64(i), math.Inf(1))
	}
	if len(c.full) > maxFull || len(c.full) < maxFull/2 {
		t.Errorf("%d points", len(c.full))
	}
	sum, count := 0.0, 0
	for i, p := range c.full {
		values := c.stride
		if i == len(c.full)-1 {
			values = c.inLast
		}
		sum, count = sum+p.Mean*float64(values), count+values
		if p.Low < 0 || p.High > 6 || p.Low > p.Mean || p.Mean > p.High {
			t.Fatalf("point %d: %v", i, p)
		}
		if i > 0 && p.X <= c.full[i-1].X {
			t.Fatalf("point %d: %v after %v", i, p, c.full[i-1])
		}
	}
	want := 0.0
	for i := range n {
		want += float64(i % 7)
	}
	if count != n || math.Abs(sum-want) > 1e-6*want {
		t.Errorf("%d values with the sum %v, want %d and %v", count, sum, n, want)
	}
	if last := c.last(); len(last) != maxRecent || last[maxRecent-1].X != n-1 || last[0].X != n-maxRecent {
		t.Errorf("recent: %d points to %v", len(last), last[len(last)-1])
	}
}

func TestACurveThatIsCut(t *testing.T) {
	c := newCurve()
	for i := range 3 * maxFull {
		c.add(float64(i), 1)
	}
	if c.cut(3 * maxFull) {
		t.Error("nothing is after the end")
	}
	if !c.cut(100) || c.full[len(c.full)-1].X > 100 || len(c.recent) != 0 {
		t.Errorf("%v is left", c.full[len(c.full)-1])
	}
	c.add(101, 5)
	if p := c.full[len(c.full)-1]; p != (Point{101, 5, 5, 5}) {
		t.Errorf("the next point is %v", p)
	}
}

func TestLargeNumbers(t *testing.T) {
	c := newCurve()
	for i := range 3 * maxFull {
		v := math.MaxFloat64
		if i%2 == 1 {
			v = -v
		}
		c.add(float64(i), v)
	}
	for _, p := range c.full {
		if math.IsNaN(p.Mean) || math.IsInf(p.Mean, 0) {
			t.Fatalf("%v", p)
		}
	}
}
