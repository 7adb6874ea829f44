package optim

import "math"

const (
	decrease  = 1e-4 // smallest decrease of the loss, relative to the initial slope (c1)
	curvature = 0.9  // largest remaining slope, relative to the initial slope (c2)
	trials    = 25   // largest number of evaluations in a search
)

// search looks along the step's direction for a point that satisfies the strong Wolfe conditions
// (algorithms 3.5 and 3.6 of the book that [LBFGS] names). The step length t is tried first. loss
// and slope are the loss and the slope at the start. If search does not find such a point, it
// returns the best point that it has tried. calls is the number of loss evaluations.
func (o *LBFGS) search(f func() (float64, error), t, loss, slope float64) (end *point, calls int, err error) {
	before, p, spare := &o.points[0], &o.points[1], &o.points[2]
	before.set(0, loss, slope, o.g)
	if err := o.try(f, p, t); err != nil {
		return nil, 0, err
	}
	enough := func(p *point) bool { return p.loss <= loss+float64(decrease*p.t*slope) }
	flat := func(p *point) bool { return math.Abs(p.slope) <= -curvature*slope }

	// Grow the step until it brackets a minimum.
	trial := 0
	for ; trial < trials; trial++ {
		if !enough(p) || trial > 1 && p.loss >= before.loss {
			break
		}
		if flat(p) {
			return p, trial + 1, nil
		}
		if p.slope >= 0 {
			break
		}
		t := between(before, p, p.t+float64(0.01*(p.t-before.t)), 10*p.t)
		before, p = p, before
		if err := o.try(f, p, t); err != nil {
			return nil, 0, err
		}
	}
	if trial == trials {
		before.set(0, loss, slope, o.g)
	}

	// Narrow the bracket.
	low, high := before, p
	if !(low.loss <= high.loss) {
		low, high = high, low
	}
	reach, stuck := largest(o.direction), false
	for ; trial < trials && math.Abs(high.t-low.t)*reach >= o.c.ChangeTolerance; trial++ {
		least, most := min(low.t, high.t), max(low.t, high.t)
		t := between(low, high, least, most)
		margin := float64(0.1 * (most - least))
		if atEdge := min(most-t, t-least) < margin; atEdge && (stuck || t >= most || t <= least) {
			if math.Abs(t-most) < math.Abs(t-least) {
				t = most - margin
			} else {
				t = least + margin
			}
			stuck = false
		} else {
			stuck = atEdge
		}
		if err := o.try(f, spare, t); err != nil {
			return nil, 0, err
		}
		if !enough(spare) || spare.loss >= low.loss {
			high, spare = spare, high
			if high.loss < low.loss {
				low, high = high, low
			}
			continue
		}
		done := flat(spare)
		if !done && spare.slope*(high.t-low.t) >= 0 {
			high, low = low, high
		}
		low, spare = spare, low
		if done {
			trial++
			break
		}
	}
	return low, trial + 1, nil
}

// set sets p to an evaluated point. g is copied.
func (p *point) set(t, loss, slope float64, g []float32) {
	p.t, p.loss, p.slope = t, loss, slope
	copy(p.g, g)
}

// try evaluates the loss f at the start plus t times the direction, and stores the result in p. A
// NaN loss becomes +∞.
func (o *LBFGS) try(f func() (float64, error), p *point, t float64) error {
	o.move(t)
	loss, err := o.evaluate(f, p.g)
	if err != nil {
		return err
	}
	if math.IsNaN(loss) {
		loss = math.Inf(1)
	}
	p.t, p.loss, p.slope = t, loss, dot(p.g, o.direction)
	return nil
}

// between returns the minimum of a cubic polynomial, clamped to [least, most]. The cubic has the
// losses and slopes of points a and b. If it has no minimum, between returns the middle of least and
// most.
func between(a, b *point, least, most float64) float64 {
	if a.t > b.t {
		a, b = b, a
	}
	d1 := a.slope + b.slope - 3*(a.loss-b.loss)/(a.t-b.t)
	d2 := math.Sqrt(float64(d1*d1) - float64(a.slope*b.slope))
	t := b.t - float64((b.t-a.t)*((b.slope+d2-d1)/(b.slope-a.slope+2*d2)))
	if math.IsNaN(t) {
		return (least + most) / 2
	}
	return min(max(t, least), most)
}
