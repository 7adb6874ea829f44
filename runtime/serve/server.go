package serve

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/burngen/burngen/runtime/rt"
	"github.com/burngen/burngen/runtime/rt/untyped"
)

// Server answers requests of inference for models. It is safe for concurrent use.
type Server struct {
	options Options
	entries []*entry // in the order of New
	meter   *meter
	handler http.Handler

	draining atomic.Bool
	mu       sync.Mutex
	under    map[string]int // requests under way, by client
}

// New returns a server and loads its models. It returns an error if two models have the same name or if a
// model cannot be loaded.
func New(o Options, models ...Model) (*Server, error) {
	o.complete()
	s := &Server{options: o, meter: newMeter(), under: map[string]int{}}
	for _, m := range models {
		if m.Name == "" || m.Load == nil {
			return nil, fmt.Errorf("a model needs a name and Load")
		}
		for _, other := range s.entries {
			if other.Name == m.Name {
				return nil, fmt.Errorf("two models have the name %q", m.Name)
			}
		}
		s.entries = append(s.entries, &entry{Model: m, options: &s.options, meter: s.meter})
	}
	for _, e := range s.entries {
		if err := e.load(); err != nil {
			return nil, fmt.Errorf("model %q: %w", e.Name, err)
		}
	}
	s.handler = s.routes()
	return s, nil
}

// Handler returns the handler of the protocol over HTTP, with the page /metrics.
func (s *Server) Handler() http.Handler { return s.handler }

// Reload reads the weights of models again from their files. It leaves out models that have no file of weights or are
// not loaded. It returns one error with the errors of all models. A model with an error keeps its weights.
func (s *Server) Reload() error {
	var errs []error
	for _, e := range s.entries {
		if e.Weights != "" && e.now.Load() != nil {
			errs = append(errs, e.load())
		}
	}
	return errors.Join(errs...)
}

// Drain makes the server not ready. The server still answers requests, and closes an HTTP connection after each
// answer. Call Drain before you shut down the listeners: load balancers then send requests elsewhere.
func (s *Server) Drain() { s.draining.Store(true) }

// Close makes all models refuse new requests, and returns when all earlier requests have been computed.
func (s *Server) Close() {
	s.Drain()
	for _, e := range s.entries {
		e.loading.Lock()
		if i := e.now.Swap(nil); i != nil {
			i.close()
			<-i.ended
		}
		e.because("the server is ending")
		e.loading.Unlock()
	}
}

// isReady reports whether all models are loaded and the server does not drain.
func (s *Server) isReady() bool {
	for _, e := range s.entries {
		if e.now.Load() == nil {
			return false
		}
	}
	return !s.draining.Load()
}

// find returns the model and the method for a name that a request has.
func (s *Server) find(name, version string) (*entry, *instance, *untyped.Method, error) {
	unknown := errorf(http.StatusNotFound, "there is no model %q", name)
	if version != "" && version != modelVersion {
		return nil, nil, nil, errorf(http.StatusNotFound, "model %q has version %s, and no version %q", name, modelVersion, version)
	}
	var e *entry
	for _, other := range s.entries {
		if name == other.Name || strings.HasPrefix(name, other.Name+".") && (e == nil || len(other.Name) > len(e.Name)) {
			e = other
		}
		if name == other.Name {
			break
		}
	}
	if e == nil {
		return nil, nil, nil, unknown
	}
	i, err := e.instance()
	if err != nil {
		return e, nil, nil, err
	}
	for _, m := range i.methods {
		if m.Label == name {
			return e, i, m, nil
		}
	}
	return nil, nil, nil, unknown
}

// infer computes a request. If the model is replaced before the request is computed, the new model
// computes it.
func (s *Server) infer(ctx context.Context, q *request, client, version string) (*job, error) {
	if q.timeout > 0 {
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, q.timeout)
		defer cancel()
	}
	for {
		_, i, m, err := s.find(q.method.Label, version)
		if err != nil {
			return nil, err
		}
		if q.method != m { // of another instance
			if err := q.rebind(m); err != nil {
				return nil, err
			}
		}
		j, err := i.infer(ctx, q, client)
		if err != errClosed {
			return j, err
		}
		if err := rt.Done(ctx); err != nil {
			return nil, err
		}
	}
}

// rebind changes a request to the corresponding method of another instance of its model. It returns
// an error if the method has changed.
func (q *request) rebind(m *untyped.Method) error {
	if len(m.In) != len(q.in) || len(m.Out) != len(q.method.Out) {
		return badRequest("model %q has changed", m.Label)
	}
	for i, p := range m.In {
		if old := q.in[i].Port; old.Name != p.Name || old.DType != p.DType {
			return badRequest("model %q has changed", m.Label)
		}
		q.in[i].Port = p
	}
	q.method = m
	return checkShapes(q.in)
}

// enter counts a request of a client. The caller must call leave after the request. It returns an
// error if too many requests of the client wait or run.
func (s *Server) enter(client string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.under[client] >= s.options.MaxQueue+s.options.Sessions {
		return errFull
	}
	s.under[client]++
	return nil
}

func (s *Server) leave(client string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.under[client]--; s.under[client] <= 0 {
		delete(s.under, client)
	}
}

// allows reports whether an Authorization header has the token. Without a token in the options, every request is
// allowed.
func (s *Server) allows(header string) bool {
	if s.options.Token == "" {
		return true
	}
	scheme, token, _ := strings.Cut(header, " ")
	return strings.EqualFold(scheme, "Bearer") && subtle.ConstantTimeCompare([]byte(token), []byte(s.options.Token)) == 1
}

// clientOf returns an identifier of the client. It is the first value of the header that Options.ClientHeader names
// or, if there is no such value, the host of the address.
func (s *Server) clientOf(address string, header func(name string) string) string {
	if s.options.ClientHeader != "" {
		first, _, _ := strings.Cut(header(s.options.ClientHeader), ",")
		if first = strings.TrimSpace(first); first != "" {
			return first[:min(len(first), 100)]
		}
	}
	if host, _, err := net.SplitHostPort(address); err == nil {
		return host
	}
	return address
}
