package learn

import (
	"fmt"
	"math"
	"strconv"

	"github.com/burngen/burngen/runtime/metric"
	"github.com/burngen/burngen/runtime/rt"
)

// counters measure the outputs of a split during one epoch of training or one validation.
type counters[O any] struct {
	metrics []metric.Metric[O] // the first is the loss
	// number of batches in a window of recent values
	window int
	all    []metric.Counter[O]
	// of the metrics other than the loss; made anew for each window
	recent  []metric.Counter[O]
	batches int64 // in the window
	items   int64 // of the split
}

func newCounters[O any](metrics []metric.Metric[O], window int) *counters[O] {
	c := &counters[O]{metrics: metrics, window: window}
	for _, m := range metrics {
		c.all = append(c.all, m.New())
	}
	c.begin()
	return c
}

func (c *counters[O]) begin() {
	c.batches, c.recent = 0, c.recent[:0]
	for _, m := range c.metrics[1:] {
		c.recent = append(c.recent, m.New())
	}
}

// add counts an output of `items` items. If the window of recent batches is full or `last` is true,
// add returns the values of the window. Otherwise it returns nil. It also returns nil if only the
// loss is measured. It returns an error if a counter fails.
func (c *counters[O]) add(o O, items int, last bool) (recent []Value, err error) {
	if err := c.count(o); err != nil {
		return nil, err
	}
	c.items += int64(items)
	if c.batches++; int(c.batches) < c.window && !last || len(c.recent) == 0 {
		return nil, nil
	}
	recent = make([]Value, len(c.recent))
	for i, counter := range c.recent {
		recent[i] = Value{Name: c.metrics[i+1].Name, Value: Number(counter.Value())}
	}
	c.begin()
	return recent, nil
}

func (c *counters[O]) count(o O) (err error) {
	defer rt.Recover("metrics", &err)
	for i, counter := range c.all {
		counter.Add(o)
		if err := metric.Err(counter); err != nil {
			return err
		}
		if i > 0 {
			c.recent[i-1].Add(o)
		}
	}
	return nil
}

func (c *counters[O]) values() (values []Value, err error) {
	defer rt.Recover("metrics", &err)
	for i, counter := range c.all {
		v := Value{Name: c.metrics[i].Name, Value: Number(counter.Value())}
		if err := metric.Err(counter); err != nil {
			return nil, err
		}
		if t, ok := counter.(metric.Texter); ok {
			v.Text = t.Text()
		}
		values = append(values, v)
	}
	return values, nil
}

func (c *counters[O]) parts(to map[string]rt.Stater) {
	to["counters"] = registered(c.batchCounts)
	for i, counter := range c.all {
		to["counter-"+strconv.Itoa(i)] = counter
	}
	for i, counter := range c.recent {
		to["recent-"+strconv.Itoa(i+1)] = counter
	}
}

// batchCounts registers the numbers of batches and items with a state.
func (c *counters[O]) batchCounts(s *rt.State) {
	rt.StateScalar(s, "batches", &c.batches)
	rt.StateScalar(s, "items", &c.items)
}

type registered func(*rt.State)

func (r registered) State(s *rt.State) { r(s) }

// seriesOf returns the series of values that the metrics have. It returns an error if a metric has
// no name or its New is nil, or if two metrics have the same name.
func seriesOf[O any](metrics []metric.Metric[O]) ([]Series, error) {
	var list []Series
	seen := map[string]bool{}
	for i, m := range metrics {
		switch {
		case m.Name == "" || m.New == nil:
			return nil, fmt.Errorf("metric %d: Name and New expected", i)
		case seen[m.Name]:
			return nil, fmt.Errorf("metric %q is given twice; the loss is always measured", m.Name)
		}
		seen[m.Name] = true
		list = append(list, Series{Name: m.Name, Unit: m.Unit, Better: m.Better, Curve: m.Curve})
	}
	return list, nil
}

func isFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
