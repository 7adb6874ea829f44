package nn

import (
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
)

// State is a tensor that one call of a model passes to the next, such as a key-value cache or a hidden state. A
// module has a field of type *State. Each Session of a generated package has its own copy. A state starts as zeros.
// If no argument binds a symbol of the state's type, the symbol starts as 0. Session.Reset sets all states and all
// these symbols to 0 again.
type State struct {
	typ  ir.Type
	path string
	pos  string
	// first is the value before a method sets the state, now the current value.
	first, now Value
}

// NewState returns a state of a type in the notation of the IR, such as "f32[N,4,S,16]". The symbols of the type
// are the symbols of the methods that use the state. While no method is recorded, the state is a tensor of zeros
// until it is set, and each symbol is 0.
func NewState(typ string) *State {
	t, err := parseType(typ)
	if err != nil {
		fail("%v", err)
	}
	s := &State{typ: t}
	s.pos, _ = caller()
	return s
}

// Value returns the current value of the state.
func (s *State) Value() Value {
	if s == nil {
		fail("the state is nil; use nn.NewState")
	}
	if !s.now.Valid() {
		if session.recording {
			s.first = leaf(&node{types: []ir.Type{s.typ}, name: "state " + s.path, open: true})
		} else {
			t := s.typ.Subst(func(string) (dim.Dim, bool) { return dim.Const(0), true })
			shape, ok := t.Static()
			if !ok {
				fail("%s has no extents without its symbols", s.typ)
			}
			s.first = constant(ir.Splat(ir.Scalar(t.DType, 0), shape...))
		}
		s.now = s.first
	}
	return s.now
}

// Set makes v the value of the state, for the rest of this call and for the next call. It panics
// with an [*Error] if v has another element type or rank than the state.
func (s *State) Set(v Value) {
	before := s.Value()
	if t := v.typ(); t.DType != before.DType() || t.Rank() != before.Rank() {
		fail("the state is %s, not %s", before.typ(), t)
	}
	s.now = v
}

func (s *State) reset() { s.first, s.now = Value{}, Value{} }
