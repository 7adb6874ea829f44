package metric

import (
	"fmt"
	"image"
	"math"

	"github.com/burngen/burngen/runtime/rt"
)

// Of returns a metric of outputs of type A. adapt turns an A into the output that m measures.
// Counters report an error if adapt is nil.
//
//	f1 := metric.Of(func(o Mine) metric.Classes { return o.Classes }, metric.F1(metric.Macro))
func Of[A, O any](adapt func(A) O, m Metric[O]) Metric[A] {
	return Metric[A]{m.Name, m.Unit, m.Better, m.Curve, func() Counter[A] {
		return &adapted[A, O]{adapt: adapt, name: m.Name, unit: m.Unit, inner: m.New()}
	}}
}

// adapted is a counter of outputs of type A. adapt turns an output into the output that inner
// counts.
type adapted[A, O any] struct {
	adapt func(A) O
	name  string
	unit  string
	inner Counter[O]
	err   error
}

// Add implements [Counter]. After an error it does nothing.
func (c *adapted[A, O]) Add(o A) {
	switch {
	case c.err != nil:
	case c.adapt == nil:
		c.err = fmt.Errorf("%s: no function that adapts outputs", c.name)
	default:
		c.inner.Add(c.adapt(o))
	}
}

// Value implements [Counter].
func (c *adapted[A, O]) Value() float64 {
	if c.err != nil {
		return math.NaN()
	}
	return c.inner.Value()
}

// Err implements [Failer].
func (c *adapted[A, O]) Err() error {
	if c.err != nil {
		return c.err
	}
	return Err(c.inner)
}

// Merge implements [Merger]. It is an error if the adapted counter is not a Merger.
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

// Text implements [Texter]. After an error it returns the error.
func (c *adapted[A, O]) Text() string {
	if err := c.Err(); err != nil {
		return err.Error()
	}
	if t, ok := c.inner.(Texter); ok {
		return t.Text()
	}
	return format(c.Value(), c.unit)
}

// Picture implements [Picturer]. It returns nil if the adapted counter returns nil or is not a
// Picturer.
func (c *adapted[A, O]) Picture() image.Image {
	if p, ok := c.inner.(Picturer); ok {
		return p.Picture()
	}
	return nil
}

// State implements [rt.Stater]. It registers the counts of the adapted counter. Saving returns the
// counter's error, if there is one.
func (c *adapted[A, O]) State(s *rt.State) {
	rt.StateFunc(s, func() error { return c.err }, func() error {
		c.err = nil
		return nil
	})
	c.inner.State(s)
}
