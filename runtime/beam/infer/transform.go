package infer

import (
	"context"
	"fmt"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
)

// Options are options of [Items].
type Options struct {
	// MaxBatch is the largest number of items in a batch. If it is 0, the number is [DefaultBatch]. A batch ends
	// with its bundle.
	MaxBatch int
	// KeepGoing sends items that fail to the second collection. Otherwise the first one fails its bundle.
	KeepGoing bool
}

// DefaultBatch is the largest number of items in a batch, unless a program chooses another one.
const DefaultBatch = 32

// Failure is an item for which the model returned an error.
type Failure struct {
	Item  Item
	Cause string
}

// Items applies a model to a collection of [Item]. It returns a collection of items of results, and a collection of
// [Failure], which is empty without [Options.KeepGoing]. Items keep their timestamps. Items panics unless col is in the
// global window, because a batch would join items of different windows.
//
// There are metrics in the namespace burngen: the counters items and failures, and the distributions batch_items
// and batch_microseconds.
func Items(s beam.Scope, m Model, col beam.PCollection, o Options) (results, failures beam.PCollection) {
	if w := col.WindowingStrategy().Fn; w.Kind != window.GlobalWindows {
		panic(fmt.Sprintf("infer: model %q: the items are in windows of kind %s, not in the global window", m.Name, w.Kind))
	}
	if o.MaxBatch <= 0 {
		o.MaxBatch = DefaultBatch
	}
	return beam.ParDo2(s.Scope("infer.Items"), &itemsFn{Model: m, Options: o}, col)
}

func init() {
	register.DoFn5x1[context.Context, beam.EventTime, Item, func(beam.EventTime, Item), func(beam.EventTime, Failure), error](&itemsFn{})
	register.Emitter2[beam.EventTime, Item]()
	register.Emitter2[beam.EventTime, Failure]()
}

// itemsFn computes the items of a bundle in batches. Its exported fields are in the pipeline.
type itemsFn struct {
	Model   Model
	Options Options

	loaded *Loaded
	items  []Item
	times  []beam.EventTime
}

// Setup loads the model, once in a process.
func (f *itemsFn) Setup() (err error) {
	f.loaded, err = f.Model.Load()
	return err
}

func (f *itemsFn) StartBundle(func(beam.EventTime, Item), func(beam.EventTime, Failure)) {
	f.forget()
}

func (f *itemsFn) ProcessElement(ctx context.Context, at beam.EventTime, it Item, emit func(beam.EventTime, Item), fail func(beam.EventTime, Failure)) error {
	f.items, f.times = append(f.items, it), append(f.times, at)
	if len(f.items) < f.Options.MaxBatch {
		return nil
	}
	return f.compute(ctx, emit, fail)
}

func (f *itemsFn) FinishBundle(ctx context.Context, emit func(beam.EventTime, Item), fail func(beam.EventTime, Failure)) error {
	return f.compute(ctx, emit, fail)
}

func (f *itemsFn) forget() { f.items, f.times = nil, nil }

// compute computes the items that wait, and emits their results in the order in which they came.
func (f *itemsFn) compute(ctx context.Context, emit func(beam.EventTime, Item), fail func(beam.EventTime, Failure)) error {
	defer f.forget()
	out, errs := Measured(ctx, f.loaded, f.items)
	for i, err := range errs {
		switch {
		case err == nil:
			emit(f.times[i], out[i])
		case !f.Options.KeepGoing || ctx.Err() != nil:
			return fmt.Errorf("%s: %w", f.items[i].Key, err)
		default:
			fail(f.times[i], Failure{Item: f.items[i], Cause: err.Error()})
		}
	}
	return nil
}

var (
	counted  = beam.NewCounter("burngen", "items")
	failed   = beam.NewCounter("burngen", "failures")
	batched  = beam.NewDistribution("burngen", "batch_items")
	duration = beam.NewDistribution("burngen", "batch_microseconds")
)

// Measured is [Loaded.Compute] for a DoFn: it also updates the metrics that [Items] describes. ctx is the context of
// the DoFn.
func Measured(ctx context.Context, l *Loaded, items []Item) ([]Item, []error) {
	if len(items) == 0 {
		return nil, nil
	}
	start := time.Now()
	out, errs := l.Compute(ctx, items)
	duration.Update(ctx, time.Since(start).Microseconds())
	batched.Update(ctx, int64(len(items)))
	counted.Inc(ctx, int64(len(items)))
	for _, err := range errs {
		if err != nil {
			failed.Inc(ctx, 1)
		}
	}
	return out, errs
}
