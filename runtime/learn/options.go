package learn

import (
	"errors"
	"fmt"
	"time"

	"github.com/burngen/burngen/runtime/record"
	"github.com/burngen/burngen/runtime/rt"
)

// Options configure a run.
type Options struct {
	// Dir is the folder of the run, which is created. Without it nothing is saved.
	Dir string
	// Epochs and Steps limit the run. It ends at whichever comes first; 0 means no limit. At least one
	// of Epochs, Steps and Stop must be given.
	Epochs, Steps int

	// Optimizers take the steps. If there are none, the Task takes the steps itself, for example with
	// LBFGS or for adversarial networks.
	Optimizers []Optimizer
	// Accumulate is the number of batches whose gradients make a step; 0 means 1. The gradient of a step
	// is the mean over all items of these batches. The last step of an epoch may have fewer batches.
	Accumulate int
	// Sum makes the gradient of a step the sum of the gradients of its batches, instead of the mean over
	// items.
	Sum bool
	// ClipNorm is the largest norm of all gradients together, see [rt.Params.ClipNorm]; 0 means no limit.
	ClipNorm float64
	// ClipValue is the largest magnitude of an element of a gradient; 0 means no limit. It applies after
	// ClipNorm.
	ClipValue float64
	// Average keeps averages of the weights, which validation and tests use. [EMA] returns one.
	Average *Average

	// ValidEvery is the number of steps between validations; 0 means at the end of each epoch. A
	// checkpoint is saved after each validation and after each epoch.
	ValidEvery int
	// SaveEvery is the number of steps between saved states; 0 means that only checkpoints are saved.
	SaveEvery int
	// Recent is the number of batches over which recent values of metrics are computed; 0 means 10.
	Recent int

	Keep   []Keeper   // which checkpoints are kept, see [Either]; without any, Last(2)
	Stop   Stopper    // what ends the run besides Epochs and Steps; may be nil
	Resume Resumption // what to do if the folder has a run: Refuse (default), Continue, Fresh, or From(epoch)

	Show   Renderer               // shows the run; nil shows nothing
	Log    []Logger               // loggers besides those of the folder
	Report func(dir string) error // called with the folder after the last event, to write report.html; may be nil
	Config any                    // configuration of the model and of the run, which encodes as JSON
	Record record.Recorder        // format of checkpoints; safetensors by default

	System      Machine       // measures the machine; may be nil
	SystemEvery time.Duration // how often; 0 means 5 s

	// State is what else is saved with the run, by names without slashes, such as a [data.Standardizer].
	State map[string]rt.Stater
}

// Machine measures the machine on which a run trains.
type Machine interface {
	// Series describes the measured values. It returns the same list for every call.
	Series() []Series
	// Measure returns the current values. Values that are missing are not in the list.
	Measure() []Value
}

func (o *Options) check() error {
	var errs []error
	wrong := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	for _, n := range []struct {
		name  string
		value int
	}{{"Epochs", o.Epochs}, {"Steps", o.Steps}, {"Accumulate", o.Accumulate}, {"ValidEvery", o.ValidEvery}, {"SaveEvery", o.SaveEvery}, {"Recent", o.Recent}} {
		if n.value < 0 {
			wrong("%s is %d: at least 0 expected", n.name, n.value)
		}
	}
	for _, x := range []struct {
		name  string
		value float64
	}{{"ClipNorm", o.ClipNorm}, {"ClipValue", o.ClipValue}} {
		if !(x.value >= 0) {
			wrong("%s is %g: at least 0 expected", x.name, x.value)
		}
	}
	if o.Epochs == 0 && o.Steps == 0 && o.Stop == nil {
		wrong("nothing ends the run: Epochs, Steps or Stop expected")
	}
	for i, opt := range o.Optimizers {
		if opt.Of == nil || opt.Rate == nil {
			wrong("optimizer %d: Of and Rate expected", i)
		}
	}
	if len(o.Optimizers) == 0 && (o.Accumulate > 1 || o.ClipNorm > 0 || o.ClipValue > 0) {
		wrong("Accumulate, ClipNorm and ClipValue need Optimizers")
	}
	if o.Resume < Fresh || o.Resume != Refuse && o.Dir == "" {
		wrong("Resume is %v: Refuse, Continue, Fresh or From(epoch), and a Dir, expected", o.Resume)
	}
	if len(o.Keep) > 0 && o.Dir == "" {
		wrong("Keep without Dir: there are no checkpoints")
	}
	for i, k := range o.Keep {
		if k == nil {
			wrong("keeper %d is nil", i)
		}
	}
	for i, l := range o.Log {
		if l == nil {
			wrong("logger %d is nil", i)
		}
	}
	if len(o.Log) > 0 && o.Dir == "" {
		wrong("Log without Dir: loggers write into the folder of the run")
	}
	if o.SystemEvery < 0 {
		wrong("SystemEvery is %v: at least 0 expected", o.SystemEvery)
	}
	return errors.Join(errs...)
}

func (o *Options) accumulate() int { return max(1, o.Accumulate) }

// weighs reports whether the batches of a step are weighted by their numbers of items.
func (o *Options) weighs() bool { return o.Accumulate > 1 && !o.Sum }

// recent returns the number of batches in a window of recent values.
func (o *Options) recent() int {
	if o.Recent == 0 {
		return 10
	}
	return o.Recent
}

func (o *Options) systemEvery() time.Duration {
	if o.SystemEvery == 0 {
		return 5 * time.Second
	}
	return o.SystemEvery
}

func (o *Options) keeper() Keeper {
	if len(o.Keep) == 0 {
		return Last(2)
	}
	return Either(o.Keep...)
}
