package metric

import (
	"image"

	"github.com/burngen/burngen/runtime/rt"
)

// Metric is a measure of outputs of type O.
type Metric[O any] struct {
	// Name says which metric this is and with which parameters, such as "top-3 accuracy". Metrics of
	// different outputs may have the same name.
	Name string
	// Unit is the unit of values, such as "%". It may be empty.
	Unit string
	// Better is 1 if larger values are better, -1 if smaller values are better, and 0 otherwise.
	Better int
	// Curve says that values are worth a curve over time.
	Curve bool
	// New returns a counter that has no data.
	New func() Counter[O]
}

// Counter accumulates outputs of type O. It is a [rt.Stater]: a counter of the same metric continues
// from a saved state.
type Counter[O any] interface {
	// Add counts the items of an output. It does not keep the output's memory.
	Add(O)
	// Value returns the value over all items. It returns NaN if there are no data, or after an error.
	Value() float64
	// State makes the counter a [rt.Stater].
	State(*rt.State)
}

// Texter is a [Counter] that describes its value in words. All counters of this package are Texters.
type Texter interface{ Text() string }

// Merger is a [Counter] that adds what another counter of the same metric has counted. The other
// counter does not change. Merging a counter of another metric is an error; see [Failer]. All counters
// of this package are Mergers.
type Merger[O any] interface{ Merge(Counter[O]) }

// Failer is a [Counter] that reports errors. Err returns the first error of Add and Merge, or nil.
// After an error, Add and Merge do nothing. All counters of this package are Failers.
type Failer interface{ Err() error }

// Picturer is a [Counter] that shows its value as a picture. Picture returns nil if there are
// no data.
type Picturer interface{ Picture() image.Image }

// Output is an output of a model whose loss is known. Lost returns the mean loss of the items, and
// their number. Padding does not count as an item.
type Output interface {
	Lost() (loss float64, items int)
}

// Err returns the first error of a counter. It returns nil if there is no error or the counter is not a
// [Failer].
func Err[O any](c Counter[O]) error {
	if f, ok := c.(Failer); ok {
		return f.Err()
	}
	return nil
}
