package report

import (
	"math"
	"sort"
)

// Point is a value at a step of a run.
type Point struct {
	Step, Epoch int
	Value       float64
}

// Curve is a list of the values of a metric during a run. Its steps do not decrease, and its values are finite.
type Curve struct {
	Points []Point
	stride int // one of stride points is kept
	seen   int // points since the last one that was kept
}

// maxPoints is the largest number of points of a curve. A longer curve keeps every second point,
// then every fourth, and so on.
const maxPoints = 1 << 20

// add appends a point if its value is finite and the curve's stride does not skip it.
func (c *Curve) add(p Point) {
	if math.IsNaN(p.Value) || math.IsInf(p.Value, 0) {
		return
	}
	if c.seen++; c.seen < c.stride {
		return
	}
	c.seen = 0
	c.Points = append(c.Points, p)
	if len(c.Points) > maxPoints {
		kept := c.Points[:0]
		for i := 0; i < len(c.Points); i += 2 {
			kept = append(kept, c.Points[i])
		}
		c.Points, c.stride = kept, 2*max(1, c.stride)
	}
}

// cut removes the points after a step.
func (c *Curve) cut(step int) {
	c.Points = c.Points[:sort.Search(len(c.Points), func(i int) bool { return c.Points[i].Step > step })]
}

// Thin returns at most n points that show the course of the curve. If n is at least 3, it keeps the first and the
// last point. It divides the others into n − 2 buckets of neighbours and keeps one point of each bucket: the point
// that makes the largest triangle with the point kept before it and the centre of the next bucket (Steinarsson,
// "Downsampling Time Series for Visual Representation", 2013: LTTB). If n is below 3, Thin returns the first n
// points.
func (c *Curve) Thin(n int) []Point {
	p := c.Points
	if len(p) <= n || n < 3 {
		return p[:min(len(p), max(n, 0))]
	}
	out := append(make([]Point, 0, n), p[0])
	// Buckets 1 to n-2 share the points between the first and the last.
	first := func(bucket int) int { return 1 + (bucket-1)*(len(p)-2)/(n-2) }
	for b := 1; b < n-1; b++ {
		mine, next := p[first(b):first(b+1)], p[first(b+1):]
		if b < n-2 {
			next = p[first(b+1):first(b+2)]
		}
		x, y := centre(next)
		last := out[len(out)-1]
		best, area := mine[0], -1.0
		for _, q := range mine {
			a := math.Abs((float64(last.Step)-x)*(q.Value-last.Value) - float64(last.Step-q.Step)*(y-last.Value))
			if a > area {
				best, area = q, a
			}
		}
		out = append(out, best)
	}
	return append(out, p[len(p)-1])
}

// centre returns the mean step and the mean value.
func centre(p []Point) (step, value float64) {
	n := float64(len(p))
	for _, q := range p {
		step += float64(q.Step) / n
		value += q.Value / n
	}
	return step, value
}
