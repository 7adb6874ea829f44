//lint:file-ignore U1000 the generator uses what is not used here

package skeleton

import (
	"context"

	"github.com/burngen/burngen/runtime/rt"
)

// Session holds the memory of one call at a time. A call while another one runs returns rt.ErrBusy.
type Session struct {
	rt.Session[weights]
	field_ Field_
}

// NewSession opens a session. A call with an extent above limits returns an error. Nil limits allow
// every extent. The session's memory grows with the extents of its calls.
func (m *Model) NewSession(limits rt.Max) (*Session, error) {
	if err := m.loaded(); err != nil {
		return nil, err
	}
	if err := limits.Check(where_, symbol_); err != nil {
		return nil, err
	}
	s := &Session{}
	if err := rt.OpenSession(&s.Session, &m.weights, limits_, method_); err != nil {
		return nil, err
	}
	fields_()
	return s, nil
}

// NewSession_static opens a session.
func (m *Model) NewSession_static(_ rt.Max) (*Session, error) {
	if err := m.loaded(); err != nil {
		return nil, err
	}
	s := &Session{}
	if err := rt.OpenSession(&s.Session, &m.weights, nil, method_); err != nil {
		return nil, err
	}
	fields_()
	return s, nil
}

// SetContext sets the context of later calls. They end early, with the context's error, when ctx is
// done. ctx may be nil.
func (s *Session) SetContext(ctx context.Context) {
	if s != nil {
		s.Session.SetContext(ctx)
	}
}

// Reset sets the states to their values before the first call: zeros, with extent 0 along symbols
// that no argument has.
func (s *Session) Reset() {
	if s == nil {
		return
	}
	fields_()
}
