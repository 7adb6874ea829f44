package nn

import (
	"github.com/burngen/burngen/ir"
)

// State is a tensor that a call of a model leaves to the next: a cache of keys and
// values, a running hidden state. A pointer to one is a field of a module. In a generated
// package each Session has its own; it begins as zeros, of no extent along symbols that no
// argument has, and Session.Reset makes it begin anew.
type State struct {
	typ  ir.Type
	path string
	pos  string
	// first is what it is before a method sets it, and now what it is then.
	first, now Value
}

// NewState returns a state of a type, written as the IR prints it, "f32[N,4,S,16]",
// whose symbols are those of the methods that use it. Outside of a recording it is
// zeros, and its symbols 0.
func NewState(typ string) *State {
	t, err := parseType(typ)
	if err != nil {
		fail("%v", err)
	}
	s := &State{typ: t}
	s.pos, _ = caller()
	return s
}

// Value returns what the state is now.
func (s *State) Value() Value {
	if s == nil {
		fail("the state is nil; use nn.NewState")
	}
	if !s.now.Valid() {
		if session.recording {
			s.first = leaf(&node{types: []ir.Type{s.typ}, name: "state " + s.path, open: true})
		} else {
			t := s.typ.Subst(func(string) (ir.Dim, bool) { return ir.Const(0), true })
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

// Set makes v what the state is from here on, and for the next call.
func (s *State) Set(v Value) {
	before := s.Value()
	if t := v.typ(); t.DType != before.DType() || t.Rank() != before.Rank() {
		fail("the state is %s, not %s", before.typ(), t)
	}
	s.now = v
}

// reset makes the state what it is before a call.
func (s *State) reset() { s.first, s.now = Value{}, Value{} }
