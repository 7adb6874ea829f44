package learn

import "time"

// Event is something that happened in a run. Its type is one of [Started], [Stepped], [Measured],
// [EpochEnded], [Saved], [Deleted], [Improved], [Warned] and [Stopped].
type Event interface {
	// kind returns the name of the event's type in JSON.
	kind() string
}

// Split names the origin of values: training, validation or test data, or the machine.
type Split string

const (
	Train  Split = "train"  // outputs of training steps, such as with dropout
	Valid  Split = "valid"  // outputs for validation data
	Test   Split = "test"   // outputs for test data
	System Split = "system" // the machine
)

// Key returns the name of a metric of a split, such as "valid accuracy". Keepers and stoppers
// take such names.
func (s Split) Key(metric string) string { return string(s) + " " + metric }

// Series describes a metric, as [metric.Metric] does.
type Series struct {
	Name   string `json:"name"`             // lower case, such as "accuracy"
	Unit   string `json:"unit,omitempty"`   // such as "%"
	Better int    `json:"better,omitempty"` // 1: larger values are better; -1: smaller values; 0: neither
	Curve  bool   `json:"curve,omitempty"`  // values are worth a curve over time
}

// Value is a value of a metric.
type Value struct {
	Name    string `json:"name"`              // of the Series
	Value   Number `json:"value"`             // NaN: no data
	Text    string `json:"text,omitempty"`    // the count in words
	Picture string `json:"picture,omitempty"` // PNG file in the folder of the run, with slashes
}

// Started is the first event of a run, and of each continuation of a run. Epochs, batches and steps
// count from 0.
type Started struct {
	Time       time.Time `json:"time"`
	Run        string    `json:"run"`               // name of the run: the last element of its folder's path
	Epoch      int       `json:"epoch"`             // of the first batch that follows
	Batch      int       `json:"batch"`             // first batch that follows, in its epoch
	Step       int       `json:"step"`              // steps that were taken before, by this run or those that it continues
	Epochs     int       `json:"epochs,omitempty"`  // the run ends after this number of epochs; 0 means no limit
	Steps      int       `json:"steps,omitempty"`   // the run ends after this number of steps; 0 means no limit
	Batches    int       `json:"batches,omitempty"` // of training data in an epoch
	Items      int       `json:"items,omitempty"`   // of training data in an epoch
	Valid      int       `json:"valid,omitempty"`   // batches of validation data
	Parameters int64     `json:"parameters,omitempty"`
	Metrics    []Series  `json:"metrics"`          // of training, validation and test data; the first is "loss"
	System     []Series  `json:"system,omitempty"` // of the machine
}

// Stepped says that a batch is done. Several batches of training make one step of the optimizers if
// gradients are accumulated.
type Stepped struct {
	Time     time.Time     `json:"time"`
	Split    Split         `json:"split"`
	Epoch    int           `json:"epoch"`
	Batch    int           `json:"batch"` // in its epoch
	Step     int           `json:"step"`  // steps that were taken, with this one
	Items    int           `json:"items"`
	Loss     Number        `json:"loss"`               // mean over the items of the batch
	Rate     Number        `json:"rate,omitempty"`     // learning rate of the first optimizer; 0: no step was taken
	GradNorm Number        `json:"gradNorm,omitempty"` // Euclidean norm of all gradients before clipping; 0: it was not computed
	Waited   time.Duration `json:"waited"`             // time for which the batch was waited for, in ns
	Took     time.Duration `json:"took"`               // time from the batch on to the end of the step, in ns
	Values   []Value       `json:"values,omitempty"`   // metrics of the last batches, if they are known
}

// Measured gives the values of the metrics over a whole epoch of training, a validation or a test.
// For the split of the machine, it gives measurements such as the memory in use.
type Measured struct {
	Time   time.Time `json:"time"`
	Split  Split     `json:"split"`
	Epoch  int       `json:"epoch"`
	Step   int       `json:"step"`
	Items  int       `json:"items,omitempty"`
	Values []Value   `json:"values"`
}

// EpochEnded says that all batches of an epoch were trained and validated.
type EpochEnded struct {
	Time  time.Time     `json:"time"`
	Epoch int           `json:"epoch"`
	Step  int           `json:"step"`
	Took  time.Duration `json:"took"` // in ns
}

// Saved says that a file is complete.
type Saved struct {
	Time  time.Time     `json:"time"`
	Epoch int           `json:"epoch"`
	Step  int           `json:"step"`
	File  string        `json:"file"` // in the folder of the run, with slashes
	Bytes int64         `json:"bytes"`
	Took  time.Duration `json:"took"` // in ns
}

// Deleted says that a checkpoint was deleted, because no keeper keeps it.
type Deleted struct {
	Time time.Time `json:"time"`
	File string    `json:"file"`
}

// Improved says that a value is the best of its run.
type Improved struct {
	Time   time.Time `json:"time"`
	Epoch  int       `json:"epoch"`
	Step   int       `json:"step"`
	Key    string    `json:"key"` // such as "valid accuracy"
	Value  Number    `json:"value"`
	Before Number    `json:"before"` // best value before; NaN: there was none
}

// Warned is a message for whoever watches the run. The run goes on.
type Warned struct {
	Time    time.Time `json:"time"`
	Message string    `json:"message"`
}

// Stopped is the last event of a run.
type Stopped struct {
	Time   time.Time     `json:"time"`
	Epoch  int           `json:"epoch"`
	Step   int           `json:"step"`
	Reason string        `json:"reason"` // such as "10 epochs are done", or the text of an error
	Done   bool          `json:"done"`   // the run reached its limit, or a stopper ended it: there is nothing to continue
	Took   time.Duration `json:"took"`   // of the whole run without pauses between continuations, in ns
}

func (Started) kind() string    { return "started" }
func (Stepped) kind() string    { return "stepped" }
func (Measured) kind() string   { return "measured" }
func (EpochEnded) kind() string { return "epochEnded" }
func (Saved) kind() string      { return "saved" }
func (Deleted) kind() string    { return "deleted" }
func (Improved) kind() string   { return "improved" }
func (Warned) kind() string     { return "warned" }
func (Stopped) kind() string    { return "stopped" }
