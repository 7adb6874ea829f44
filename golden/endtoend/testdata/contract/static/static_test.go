package contract

import (
	"slices"
	"testing"
	"unsafe"

	"github.com/burngen/burngen/runtime/rt"
)

// draw returns the argument of a seed.
func draw(seed uint32) *input {
	x := new(input)
	rt.Uniform(argument(x), 0, 1, seed)
	return x
}

// argument returns the elements of an argument.
func argument(x *input) []float32 { return rt.FlatOf[float32](x) }

// elements returns the elements of a result.
func elements(r *output) []float32 { return rt.FlatOf[float32](r) }

// result returns room for a result.
func result() **output {
	r := new(output)
	return &r
}

// into calls a session.
func into(s *Session, r **output, x *input) error { return s.Forward(*r, x) }

func TestNilIsRefused(t *testing.T) {
	m := opened(t)
	_, err := m.Forward(nil)
	refused(t, err)
	s := session(t, m)
	refused(t, s.Forward(nil, draw(1)))
	refused(t, s.Forward(new(output), nil))
	refused(t, s.Forward(nil, nil))
	if err := s.Forward(new(output), draw(1)); err != nil {
		t.Errorf("after the errors: %v", err)
	}
}

func TestResultInTheArgumentIsRefused(t *testing.T) {
	s, x := session(t, opened(t)), draw(1)
	before := slices.Clone(argument(x))
	flat := argument(x)
	room := len(flat) - len(elements(new(output)))
	for _, at := range []int{0, 1, room} {
		refused(t, s.Forward((*output)(unsafe.Pointer(&flat[at])), x), "overlap")
	}
	if !slices.Equal(argument(x), before) {
		t.Error("the argument is another after the errors")
	}
}
