package metric

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/burngen/burngen/runtime/rt"
)

// tally holds what a counter has counted. T is the type that implements tally[T], a pointer.
type tally[T any] interface {
	// merge adds what another tally has counted.
	merge(T) error
	// numbers returns all that has to be saved. It may share the tally's memory.
	numbers() numbers
	// restore fills an empty tally from the numbers. It returns an error if they are not from a tally
	// of this kind.
	restore(numbers) error
}

// counter is a [Counter] made of a tally and a rule.
type counter[O any, T tally[T]] struct {
	rule[O, T]
	name  string
	unit  string
	tally T
	err   error
}

type rule[O any, T tally[T]] struct {
	empty func() T
	add   func(T, O) error
	value func(T) float64
	note  func(T) string // what Text adds; nil means nothing
}

// newMetric returns a metric whose counters follow the rule and whose values are drawn as a curve.
func newMetric[O any, T tally[T]](name, unit string, better int, r rule[O, T]) Metric[O] {
	return Metric[O]{name, unit, better, true, func() Counter[O] { return newCounter(name, unit, r) }}
}

func newCounter[O any, T tally[T]](name, unit string, r rule[O, T]) *counter[O, T] {
	return &counter[O, T]{rule: r, name: name, unit: unit, tally: r.empty()}
}

// based is a *counter or a type that embeds one.
type based[O any, T tally[T]] interface{ base() *counter[O, T] }

func (c *counter[O, T]) base() *counter[O, T] { return c }

// Add implements [Counter]. After an error it does nothing.
func (c *counter[O, T]) Add(o O) {
	if c.err == nil {
		if err := c.add(c.tally, o); err != nil {
			c.err = fmt.Errorf("%s: %w", c.name, err)
		}
	}
}

// Value implements [Counter].
func (c *counter[O, T]) Value() float64 {
	if c.err != nil {
		return math.NaN()
	}
	return c.value(c.tally)
}

// Err implements [Failer].
func (c *counter[O, T]) Err() error { return c.err }

// Merge implements [Merger]. If other has an error, it becomes the error of c.
func (c *counter[O, T]) Merge(other Counter[O]) {
	if c.err != nil {
		return
	}
	o, ok := other.(based[O, T])
	switch {
	case !ok || o.base() == nil:
		c.err = fmt.Errorf("%s: merge: a counter of another metric", c.name)
	case o.base().name != c.name:
		c.err = fmt.Errorf("%s: merge: a counter of %s", c.name, o.base().name)
	case o.base().err != nil:
		c.err = o.base().err
	default:
		if err := c.tally.merge(o.base().tally); err != nil {
			c.err = fmt.Errorf("%s: merge: %w", c.name, err)
		}
	}
}

// Text implements [Texter]. It returns the value with its unit. If the metric has a note on how the
// value was computed, it adds the note in parentheses. After an error it returns the error.
func (c *counter[O, T]) Text() string {
	if c.err != nil {
		return c.err.Error()
	}
	text := format(c.Value(), c.unit)
	if c.note != nil {
		if note := c.note(c.tally); note != "" {
			text += " (" + note + ")"
		}
	}
	return text
}

func format(v float64, unit string) string {
	if math.IsNaN(v) {
		return "no data"
	}
	text := strconv.FormatFloat(v, 'g', 4, 64)
	if unit != "" {
		text += " " + unit
	}
	return text
}

// State implements [rt.Stater]. It registers the counts. Saving returns the counter's error, if
// there is one.
func (c *counter[O, T]) State(s *rt.State) {
	rt.StateKind(s, c.name)
	rt.StateBytes(s, "counts", func() ([]byte, error) {
		if c.err != nil {
			return nil, c.err
		}
		return c.tally.numbers().bytes(), nil
	}, func(saved []byte) (func(), error) {
		n, err := readNumbers(saved)
		if err != nil {
			return nil, err
		}
		t := c.empty()
		if err := t.restore(n); err != nil {
			return nil, err
		}
		return func() { c.tally, c.err = t, nil }, nil
	})
}

// errSaved is the error for a saved state that belongs to another metric.
var errSaved = errors.New("the saved counts are not of this metric")
