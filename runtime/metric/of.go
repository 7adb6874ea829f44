package metric

import (
	"fmt"
	"image"
	"math"

	"github.com/burngen/burngen/runtime/rt"
)

// Of returns a metric of outputs of type A. adapt returns the output that m measures. Counters report
// an error if adapt is nil.
//
//	f1 := metric.Of(func(o Mine) metric.Classes { return o.Classes }, metric.F1(metric.Macro))
func Of[A, O any](adapt func(A) O, m Metric[O]) Metric[A] {
	return Metric[A]{m.Name, m.Unit, m.Better, m.Curve, func() Counter[A] {
		return &adapted[A, O]{adapt: adapt, name: m.Name, unit: m.Unit, inner: m.New()}
	}}
}

// adapted is a counter of outputs of type A that counts what adapt makes of them.
type adapted[A, O any] struct {
	adapt func(A) O
	name  string
	unit  string
	inner Counter[O]
	err   error
}

// Add counts the items of an output.
func (c *adapted[A, O]) Add(o A) {
	switch {
	case c.err != nil:
	case c.adapt == nil:
		c.err = fmt.Errorf("%s: no function that adapts outputs", c.name)
	default:
		c.inner.Add(c.adapt(o))
	}
}

// Value returns the value over all items.
func (c *adapted[A, O]) Value() float64 {
	if c.err != nil {
		return math.NaN()
	}
	return c.inner.Value()
}

// Err returns the first error.
func (c *adapted[A, O]) Err() error {
	if c.err != nil {
		return c.err
	}
	return Err(c.inner)
}

// Merge adds what another counter of the same metric has counted.
func (c *adapted[A, O]) Merge(other Counter[A]) {
	o, same := other.(*adapted[A, O])
	m, merges := c.inner.(Merger[O])
	switch {
	case c.err != nil:
	case !same || o == nil:
		c.err = fmt.Errorf("%s: merge: a counter of another metric", c.name)
	case o.err != nil:
		c.err = o.err
	case !merges:
		c.err = fmt.Errorf("%s: merge: %T has no method Merge", c.name, c.inner)
	default:
		m.Merge(o.inner)
	}
}

// Text returns the value in words.
func (c *adapted[A, O]) Text() string {
	if err := c.Err(); err != nil {
		return err.Error()
	}
	if t, ok := c.inner.(Texter); ok {
		return t.Text()
	}
	return format(c.Value(), c.unit)
}

// Picture returns the picture of the counter that is adapted, or nil if that is not a [Picturer].
func (c *adapted[A, O]) Picture() image.Image {
	if p, ok := c.inner.(Picturer); ok {
		return p.Picture()
	}
	return nil
}

// State registers what the adapted counter has counted. Saving returns the counter's error, if there
// is one.
func (c *adapted[A, O]) State(s *rt.State) {
	rt.StateFunc(s, func() error { return c.err }, func() error {
		c.err = nil
		return nil
	})
	c.inner.State(s)
}
