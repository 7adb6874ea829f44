package progress

import (
	"math"
	"slices"
)

const (
	maxFull   = 2048 // points of a whole curve; when there are more, each two become one
	maxRecent = 256  // last values of a curve
)

// Point stands for the values of one or more steps.
type Point struct {
	X               float64 // last of the steps
	Low, Mean, High float64 // of the values
}

// curve is a sequence of values over steps. recent holds the last values one by one. full covers
// all values with at most maxFull points; each point stands for `stride` successive values.
type curve struct {
	full []Point
	// number of values in a point of full
	stride int
	// number of values in the last point of full
	inLast int
	recent []Point
	// number of values
	count int
}

func newCurve() *curve { return &curve{stride: 1} }

// add appends a point with step x and value v. It ignores the point if x or v is not finite.
func (c *curve) add(x, v float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) || math.IsNaN(x) || math.IsInf(x, 0) {
		return
	}
	c.count++
	if len(c.recent) == 2*maxRecent {
		c.recent = append(c.recent[:0], c.recent[maxRecent:]...)
	}
	c.recent = append(c.recent, Point{x, v, v, v})
	if n := len(c.full); n > 0 && c.inLast < c.stride {
		c.full[n-1] = join(c.full[n-1], c.inLast, Point{x, v, v, v}, 1)
		c.inLast++
		return
	}
	if len(c.full) == maxFull {
		for i := range maxFull / 2 {
			c.full[i] = join(c.full[2*i], 1, c.full[2*i+1], 1)
		}
		c.full = c.full[:maxFull/2]
		c.stride *= 2
	}
	c.full = append(c.full, Point{x, v, v, v})
	c.inLast = 1
}

// join combines two successive points. Point a stands for n values, and the later point b for m
// values.
func join(a Point, n int, b Point, m int) Point {
	w := float64(m) / float64(n+m)
	return Point{b.X, min(a.Low, b.Low), a.Mean*(1-w) + b.Mean*w, max(a.High, b.High)}
}

// cut removes the points after step x. It reports whether it removed a point.
func (c *curve) cut(x float64) bool {
	after := func(p Point) bool { return p.X > x }
	n, m := len(c.full), len(c.recent)
	c.full, c.recent = slices.DeleteFunc(c.full, after), slices.DeleteFunc(c.recent, after)
	if len(c.full) < n {
		c.inLast = c.stride
	}
	return len(c.full) < n || len(c.recent) < m
}

// last returns the last values, at most maxRecent of them.
func (c *curve) last() []Point { return c.recent[max(0, len(c.recent)-maxRecent):] }
