package skeleton

import (
	"context"

	"github.com/burngen/burngen/runtime/rt"
)

// doc_
func (m *Model) Method_(param_ Param_) (Result_, error) {
	return m.MethodContext_(context.Background(), param_)
}

// MethodContext_ is like Method_. It ends early, with the context's error, when ctx is done. ctx
// may be nil.
func (m *Model) MethodContext_(ctx context.Context, param_ Param_) (dst Result_, err error) {
	s, err := m.session(ctx)
	if err != nil {
		return dst, err
	}
	defer m.sessions.Put(s)
	checks_()
	return dst, s.Method_(target_, param_)
}

// doc_
func (s *Session) Method_(dst Target_, param_ Param_) (err error) {
	call, err := rt.Enter(s, method_, passed_)
	if err != nil {
		return err
	}
	defer call.Leave(&err)
	checks_()
	return s.schedule_(call, param_)
}

// doc_
func (s *Session) MethodKeeping_(dst Target_, param_ Param_) (err error) {
	call, err := rt.Enter(s, method_, passed_)
	if err != nil {
		return err
	}
	defer call.Leave(&err)
	checks_()
	if err := s.schedule_(call, param_); err != nil {
		return err
	}
	fields_()
	return nil
}
