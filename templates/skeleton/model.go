//lint:file-ignore U1000 the generator uses what is not used here

package skeleton

import (
	"context"
	"sync/atomic"

	"github.com/burngen/burngen/runtime/rt"
)

// Model is the model with its weights. It is safe for concurrent use.
type Model struct {
	weights  atomic.Pointer[rt.Prepared[weights]]
	sessions *rt.Pool[*Session]
	device_  Device_
}

func newModel(w *rt.Prepared[weights], device_ Device_) *Model {
	m := &Model{}
	fields_()
	m.weights.Store(w)
	m.sessions = rt.NewPool(0, func() (*Session, error) {
		return m.NewSession(nil)
	})
	return m
}

// loaded returns an error if the model has no weights.
func (m *Model) loaded() error {
	if m == nil || m.sessions == nil {
		return rt.ErrNoModel
	}
	return nil
}

// session returns a session for one call, which ends early when ctx is done.
func (m *Model) session(ctx context.Context) (*Session, error) {
	if err := m.loaded(); err != nil {
		return nil, err
	}
	return m.sessions.Get(ctx)
}

// Meta returns the names, element types and shapes of the model's inputs and outputs.
func (m *Model) Meta() rt.Meta {
	return meta
}
