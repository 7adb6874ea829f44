package untyped

import (
	"fmt"

	"github.com/burngen/burngen/runtime/rt"
)

// Method is a method of a generated package.
type Method struct {
	// Name is the name of the Go method.
	Name string
	// Label names the method in errors.
	Label string
	// In and Out are the inputs and outputs, in order.
	In, Out []*Port
	// Batch says that the first axis of every input and output is the batch.
	Batch bool
	// Stateful says that a session keeps states from one call to the next.
	Stateful bool
}

// NewMethod returns the method that m describes. label names the method in errors. NewMethod returns an error if the
// type of an input or output is not a number, a bool or a string.
func NewMethod(label string, m rt.ServedMethod) (*Method, error) {
	in, err := portsOf(m.Inputs)
	if err != nil {
		return nil, fmt.Errorf("%s: input %w", label, err)
	}
	out, err := portsOf(m.Outputs)
	if err != nil {
		return nil, fmt.Errorf("%s: output %w", label, err)
	}
	return &Method{Name: m.Name, Label: label, In: in, Out: out, Batch: m.Batch != "" && !m.Stateful, Stateful: m.Stateful}, nil
}
