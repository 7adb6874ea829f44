package plan

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// Ref describes how a step, such as a kernel call, uses memory: which value it uses, or which part
// of a value, and in which way.
type Ref struct {
	Value  *ir.Value
	Access Access
	DType  ir.DType // element type
	Len    dim.Dim  // number of elements
	// Offset is the start of the part in the value, in elements.
	Offset dim.Dim
	// Shaped reports whether the step determines the value's shape, as control flow does. The value
	// is a tensor stored with its shape in a variable.
	Shaped bool
	// Place is the place of the memory. [Make] sets it, unless it is already set to the caller's
	// memory for a result of the function.
	Place Place
}

// Access is the way in which a step uses the memory of a [Ref].
type Access uint8

// The kinds of access.
const (
	Read Access = iota
	Write
	// Scratch is the use of memory that only the steps of one node use. Its Ref.Value is neither an
	// operand nor a result of a node.
	Scratch
)

// IsContainer reports whether r is a sequence, an optional or a map.
func (r *Ref) IsContainer() bool { return !r.Value.Type.IsTensor() }

// Variable returns the variable that holds r, or nil.
func (r *Ref) Variable() *Variable {
	if r.Place.Kind != Held {
		return nil
	}
	return r.Place.Variable
}

// Boxed reports whether r is a tensor that is stored with its shape in a variable.
func (r *Ref) Boxed() bool { v := r.Variable(); return v != nil && v.Boxed }
