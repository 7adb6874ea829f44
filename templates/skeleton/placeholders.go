//lint:file-ignore U1000 the generator uses what is not used here

package skeleton

import (
	"github.com/burngen/burngen/runtime/rt"
	"github.com/burngen/burngen/runtime/rt/keys"
)

// The declarations below make the other files compile. They are not printed: the generator declares
// these names itself, or fills them in.

type (
	// Param_ stands for parameters of a method.
	Param_ struct{}
	// Result_ stands for the results of a method.
	Result_ struct{}
	// Target_ stands for the destination of a session's results.
	Target_ struct{}
	// Gradient_ stands for gradients of results.
	Gradient_ struct{}
	// Field_ stands for fields of a struct.
	Field_ struct{}
	// Batch_ stands for the option that bounds the batch.
	Batch_ struct{}
	// Device_ stands for the device of a model: a field, a parameter, or nothing.
	Device_ struct{}
	// Option_ stands for options that choose the device.
	Option_ struct{}
)

type (
	weights struct{ tensor_ []float32 }
	trained struct{ tensor_ []float32 }
	changes struct{}
)

const version_ = rt.GenVersion

var (
	param_    Param_
	result_   Result_
	passed_   rt.Passed
	target_   Target_
	method_   *rt.Method
	where_    string
	symbol_   string
	limits_   rt.Max
	want_     keys.Want
	begins_   rt.Initial
	given_    *rt.Weights
	variable_ rt.Variable
	options_  rt.TrainingOptions
	opened_   *rt.Weights
	others_   string
	own_      func() *rt.Weights
	device_   Device_
	prepare_  = prepare
	shared_   *rt.Prepared[weights]
	tensor_   []float32
	embedded  string
	meta      rt.Meta
)

func checks_() {}
func fields_() {}
func read_()   {}
func open_()   {}

func prepare(raw *rt.Weights) (*weights, error) { return &weights{}, raw.Err() }

func (s *Session) schedule_(call *rt.Frame[weights], param_ Param_) error { return call.Ctx.Err() }

func (t *Trainer) schedule_(call *rt.TrainingFrame[trained, changes], param_ Param_) error {
	return call.Ctx.Err()
}
