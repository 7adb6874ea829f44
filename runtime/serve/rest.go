package serve

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/propagation"

	"github.com/burngen/burngen/runtime/rt"
	"github.com/burngen/burngen/runtime/rt/untyped"
)

// headerLength is the name of an HTTP header. Its value is the length in bytes of the JSON that
// precedes binary tensors.
const headerLength = "Inference-Header-Content-Length"

func (s *Server) routes() http.Handler {
	open, guarded := http.NewServeMux(), http.NewServeMux()
	open.HandleFunc("GET /v2/health/live", func(w http.ResponseWriter, r *http.Request) {
		writeJSON(w, http.StatusOK, map[string]bool{"live": true})
	})
	open.HandleFunc("GET /v2/health/ready", func(w http.ResponseWriter, r *http.Request) {
		ready := s.isReady()
		writeJSON(w, statusReady(ready), map[string]bool{"ready": ready})
	})
	open.Handle("/", s.guard(guarded))
	guarded.HandleFunc("GET /v2", s.serverMetadata)
	guarded.HandleFunc("GET /v2/{$}", s.serverMetadata)
	for _, version := range []string{"", "/versions/{version}"} {
		model := "/v2/models/{model}" + version
		guarded.HandleFunc("GET "+model, s.modelMetadata)
		guarded.HandleFunc("GET "+model+"/ready", s.modelReady)
		guarded.HandleFunc("POST "+model+"/infer", s.inferREST)
	}
	guarded.HandleFunc("POST /v2/repository/index", s.repositoryIndex)
	guarded.HandleFunc("POST /v2/repository/models/{model}/load", s.repositoryChange(true))
	guarded.HandleFunc("POST /v2/repository/models/{model}/unload", s.repositoryChange(false))
	guarded.Handle("GET /metrics", s.meter.handler(s.gauge))
	return s.closing(s.shared(open))
}

// closing makes answers close their connections while the server drains.
func (s *Server) closing(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.closeConn(w)
		next.ServeHTTP(w, r)
	})
}

// closeConn makes an answer close its connection if the server drains.
func (s *Server) closeConn(w http.ResponseWriter) {
	if s.draining.Load() {
		w.Header().Set("Connection", "close")
	}
}

// shared lets pages of other origins use the handler: it adds CORS headers for the allowed origins,
// and answers preflight requests.
func (s *Server) shared(next http.Handler) http.Handler {
	if len(s.options.Origins) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := r.Header.Get("Origin")
		w.Header().Add("Vary", "Origin")
		if origin != "" && (slices.Contains(s.options.Origins, "*") || slices.Contains(s.options.Origins, origin)) {
			w.Header().Set("Access-Control-Allow-Origin", origin)
			w.Header().Set("Access-Control-Expose-Headers", headerLength+", Retry-After")
			if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
				w.Header().Set("Access-Control-Allow-Methods", "GET, POST")
				w.Header().Set("Access-Control-Allow-Headers", "Authorization, Content-Type, "+headerLength)
				w.Header().Set("Access-Control-Max-Age", "600")
				w.WriteHeader(http.StatusNoContent)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.allows(r.Header.Get("Authorization")) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			writeError(w, errorf(http.StatusUnauthorized, "the request needs the token of the server"))
			return
		}
		next.ServeHTTP(w, r)
	})
}

func statusReady(ready bool) int {
	if ready {
		return http.StatusOK
	}
	return http.StatusServiceUnavailable
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	body, _ := json.Marshal(v)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	w.Write(body)
}

// writeError writes an error response and returns its status.
func writeError(w http.ResponseWriter, err error) int {
	status := statusOf(err)
	if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	writeJSON(w, status, map[string]string{"error": err.Error()})
	return status
}

const serverName = "burngen"

// extensions lists the protocol's extensions that this server implements.
var extensions = []string{"binary_tensor_data", "model_repository", "sequence"}

func (s *Server) serverMetadata(w http.ResponseWriter, r *http.Request) {
	writeJSON(w, http.StatusOK, struct {
		Name       string   `json:"name"`
		Version    string   `json:"version"`
		Extensions []string `json:"extensions"`
	}{serverName, version(), extensions})
}

type metadataTensor struct {
	Name     string `json:"name"`
	Datatype string `json:"datatype"`
	Shape    []int  `json:"shape"`
}

func (s *Server) modelMetadata(w http.ResponseWriter, r *http.Request) {
	_, _, m, err := s.find(r.PathValue("model"), r.PathValue("version"))
	if err != nil {
		writeError(w, err)
		return
	}
	describe := func(list []*untyped.Port) []metadataTensor {
		out := []metadataTensor{}
		for _, p := range list {
			out = append(out, metadataTensor{p.Name, datatypeOf(p.DType), append([]int{}, p.Extents...)})
		}
		return out
	}
	writeJSON(w, http.StatusOK, struct {
		Name     string           `json:"name"`
		Versions []string         `json:"versions"`
		Platform string           `json:"platform"`
		Inputs   []metadataTensor `json:"inputs"`
		Outputs  []metadataTensor `json:"outputs"`
	}{m.Label, []string{modelVersion}, serverName, describe(m.In), describe(m.Out)})
}

func (s *Server) modelReady(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("model")
	_, _, _, err := s.find(name, r.PathValue("version"))
	if status := statusOf(err); status == http.StatusNotFound {
		writeError(w, err)
		return
	}
	ready := err == nil && !s.draining.Load()
	writeJSON(w, statusReady(ready), map[string]any{"name": name, "ready": ready})
}

func (s *Server) inferREST(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	body := &counted{from: http.MaxBytesReader(w, r.Body, s.options.MaxBody)}
	e := &exchange{protocol: "http", path: r.URL.Path, client: s.clientOf(r.RemoteAddr, r.Header.Get)}
	ctx, end := s.traced(r.Context(), propagation.HeaderCarrier(r.Header), e)
	defer end()
	var a *answer
	a, e.err = s.answerREST(r.WithContext(ctx), body, e)
	e.status = http.StatusOK
	e.took, e.received = time.Since(start), body.n
	s.closeConn(w) // it may drain since the request came
	if e.err != nil {
		e.status = writeError(w, e.err)
	} else {
		h := w.Header()
		h["Content-Type"] = jsonType
		if a.header >= 0 {
			h["Content-Type"] = binaryType
			h.Set(headerLength, strconv.Itoa(a.header))
		}
		h.Set("Content-Length", strconv.Itoa(len(a.body)))
		w.Write(a.body)
		e.sent = int64(len(a.body))
	}
	s.meter.request(e)
	e.log(r.Context(), s.options.Log)
}

var jsonType, binaryType = []string{"application/json"}, []string{"application/octet-stream"}

func (s *Server) answerREST(r *http.Request, body io.Reader, e *exchange) (*answer, error) {
	version := r.PathValue("version")
	_, _, m, err := s.find(r.PathValue("model"), version)
	if err != nil {
		return nil, err
	}
	e.model = m.Label
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return nil, errorf(http.StatusUnsupportedMediaType, "the request has Content-Encoding %q, which the server does not decode", encoding)
	}
	if r.ContentLength > s.options.MaxBody {
		return nil, &http.MaxBytesError{Limit: s.options.MaxBody}
	}
	header := int64(-1)
	if text := r.Header.Get(headerLength); text != "" {
		if header, err = strconv.ParseInt(text, 10, 64); err != nil || header < 0 || r.ContentLength >= 0 && header > r.ContentLength {
			return nil, badRequest("%s is %q, want the number of bytes of JSON", headerLength, text)
		}
	}
	if err := s.enter(e.client); err != nil {
		return nil, err
	}
	defer s.leave(e.client)
	ctx, cancel := context.WithTimeout(r.Context(), s.options.Timeout)
	defer cancel()
	q, err := decodeRequest(m, body, header)
	if own := (*Error)(nil); err != nil && !errors.As(err, &own) {
		return nil, orElse(rt.Done(ctx), err)
	} else if err != nil {
		return nil, err
	}
	j, err := s.infer(ctx, q, e.client, version)
	e.note(j)
	if err != nil {
		return nil, err
	}
	return q.encode(j.out)
}

type counted struct {
	from io.Reader
	n    int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.n += int64(n)
	return n, err
}

// indexed is an entry in the index of the model repository.
type indexed struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	State   string `json:"state"`
	Reason  string `json:"reason"`
}

// index lists the models. If ready is true, it lists only loaded models.
func (s *Server) index(ready bool) []indexed {
	out := []indexed{}
	for _, e := range s.entries {
		if i := e.now.Load(); i != nil {
			for _, m := range i.methods {
				out = append(out, indexed{m.Label, modelVersion, "READY", ""})
			}
		} else if !ready {
			why := ""
			if text := e.why.Load(); text != nil {
				why = *text
			}
			out = append(out, indexed{e.Name, modelVersion, "UNAVAILABLE", why})
		}
	}
	return out
}

func (s *Server) repositoryIndex(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Ready bool `json:"ready"`
	}
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<10))
	if err == nil && len(text) > 0 {
		if err = json.Unmarshal(text, &asked); err != nil {
			err = badRequest("the request is not JSON: %v", err)
		}
	}
	if err != nil {
		writeError(w, err)
		return
	}
	writeJSON(w, http.StatusOK, s.index(asked.Ready))
}

// repositoryChange returns the handler for loading models or, if load is false, for unloading them.
func (s *Server) repositoryChange(load bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := s.change(r.PathValue("model"), load); err != nil {
			writeError(w, err)
			return
		}
		writeJSON(w, http.StatusOK, struct{}{})
	}
}

// change loads a model or, if load is false, unloads it.
func (s *Server) change(name string, load bool) error {
	if !s.options.Repository {
		return errorf(http.StatusForbidden, "the server does not let clients load and unload models")
	}
	for _, e := range s.entries {
		if e.Name != name {
			continue
		}
		if !load {
			e.unload()
			return nil
		}
		if err := e.load(); err != nil {
			return errorf(http.StatusInternalServerError, "model %q: %v", name, err)
		}
		return nil
	}
	return errorf(http.StatusNotFound, "there is no model %q", name)
}

func (s *Server) gauge() {
	for _, e := range s.entries {
		i := e.now.Load()
		if i == nil {
			s.meter.live.WithLabelValues(e.Name).Set(0)
			s.meter.waiting.WithLabelValues(e.Name).Set(0)
			continue
		}
		s.meter.live.WithLabelValues(e.Name).Set(1)
		s.meter.waiting.WithLabelValues(e.Name).Set(float64(i.queue.len()))
		if i.states != nil {
			s.meter.sequences.WithLabelValues(e.Name).Set(float64(i.states.len()))
		}
	}
}
