package learn

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/burngen/burngen/runtime/metric"
)

// Learner runs a training task. It is used by one goroutine.
type Learner[B any, O metric.Output] struct {
	trainer Trainer
	task    Task[B, O]
	o       Options
	metrics []metric.Metric[O] // the first is the loss
	series  []Series
	better  directions
	now     func() time.Time
}

// New returns a learner that trains t. The loss is always measured, in addition to the metrics.
// New returns an error that joins all faults of the options: numbers out of range, nil values,
// keys of metrics that are not measured, two metrics with the same name, or options that never end
// the run.
func New[B any, O metric.Output](t Trainer, task Task[B, O], o Options, metrics ...metric.Metric[O]) (*Learner[B, O], error) {
	l := &Learner[B, O]{trainer: t, task: task, o: o, now: time.Now}
	var errs []error
	if t == nil || t.Params() == nil {
		errs = append(errs, errors.New("no trainer, or one without parameters"))
	}
	if task.Step == nil {
		errs = append(errs, errors.New("the task has no Step, or no function that makes its output"))
	}
	if o.weighs() && task.Items == nil {
		errs = append(errs, errors.New("the task has no Items, which Accumulate needs without Sum"))
	}
	errs = append(errs, o.check())
	for name, part := range o.State {
		if name == "" || strings.Contains(name, "/") || part == nil {
			errs = append(errs, fmt.Errorf("State %q: a name without slashes and a value expected", name))
		}
	}
	l.metrics = append([]metric.Metric[O]{metric.Loss[O]()}, metrics...)
	series, err := seriesOf(l.metrics)
	errs = append(errs, err)
	l.series, l.better = series, directionsOf(series)
	for _, k := range o.Keep {
		errs = append(errs, bind(k, l.better))
	}
	errs = append(errs, bind(o.Stop, l.better))
	for _, r := range l.reducers() {
		errs = append(errs, r.bind(l.better))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("learn: %w", err)
	}
	if err := o.Average.bindTo(t.Params()); err != nil {
		return nil, fmt.Errorf("learn: %w", err)
	}
	return l, nil
}

// reducers returns the factors of the optimizers' rates, without repetitions.
func (l *Learner[B, O]) reducers() []*Reducer {
	var list []*Reducer
	seen := map[*Reducer]bool{nil: true}
	for _, opt := range l.o.Optimizers {
		if !seen[opt.Factor] {
			seen[opt.Factor] = true
			list = append(list, opt.Factor)
		}
	}
	return list
}
