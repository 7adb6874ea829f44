package rt

import (
	"context"
	"sync/atomic"
)

// Session is the part of generated Sessions that is the same in every package. It holds the memory of
// one call at a time, and the weights that the call reads.
type Session[W any] struct {
	frame  Frame[W]
	source *atomic.Pointer[Prepared[W]]
}

// OpenSession makes s a session of a model with the given methods. It allocates the memory of methods
// whose arena has a fixed size. A call with an extent above `limits` will return an error.
// OpenSession returns an error if the weights cannot be prepared, and the errors of [NewArena].
func OpenSession[W any](s *Session[W], weights *atomic.Pointer[Prepared[W]], limits Max, methods ...*Method) error {
	if _, err := weights.Load().Get(); err != nil {
		return err
	}
	for _, m := range methods {
		if m.isFixed() {
			if err := s.frame.openFor(m); err != nil {
				return err
			}
		}
	}
	s.source, s.frame.max = weights, limits
	return nil
}

// SetContext sets the context of the following calls. When ctx is done, they end early with its
// cause. A nil ctx is never done.
func (s *Session[W]) SetContext(ctx context.Context) { s.frame.Ctx = ctx }

func (s *Session[W]) session() *Session[W] { return s }

// Enter begins a call of a session's method. It checks the arguments and, unless the method is
// Unbound, calls [Memory.Open]. The caller must defer the frame's Leave. Enter returns [ErrNoSession]
// if s is nil or not open, and [ErrBusy] while another call runs. It also returns an error if the
// method does not accept an argument, and the errors of Open and of preparing the weights.
func Enter[W, S any, P interface {
	*S
	session() *Session[W]
}](s P, m *Method, args ...Passed) (*Frame[W], error) {
	if s == nil {
		return nil, ErrNoSession
	}
	return s.session().enter(m, args)
}

func (s *Session[W]) enter(m *Method, args []Passed) (*Frame[W], error) {
	if s.source == nil {
		return nil, ErrNoSession
	}
	f := &s.frame
	if err := f.enter(m); err != nil {
		return nil, err
	}
	w, err := s.source.Load().Get()
	if err == nil {
		err = f.begin(args)
	}
	if err != nil {
		f.leave()
		return nil, err
	}
	f.Weights = w
	return f, nil
}
