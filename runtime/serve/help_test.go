package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/burngen/burngen/runtime/rt"
)

// doubler is a model that doubles pairs of numbers. Its sessions have the forms of a generated package
// whose inputs and outputs have the batch first.
type doubler struct {
	factor  atomic.Int64
	started chan int      // gets the size of each batch, if not nil
	gate    chan struct{} // a call waits for it, if not nil
	fails   func(x [][2]float32) error
	loads   atomic.Int64
}

type doublerSession struct {
	model *doubler
	ctx   context.Context
}

func (s *doublerSession) SetContext(ctx context.Context) { s.ctx = ctx }

func (s *doublerSession) Forward(dst, x [][2]float32) error {
	d := s.model
	if s.ctx == nil || d.factor.Load() == 0 {
		return fmt.Errorf("no context or no factor")
	}
	if d.started != nil && !isZero(x) {
		d.started <- len(x)
	}
	if d.gate != nil && !isZero(x) {
		select {
		case <-d.gate:
		case <-s.ctx.Done():
			return context.Cause(s.ctx)
		}
	}
	if d.fails != nil {
		if err := d.fails(x); err != nil {
			return err
		}
	}
	for i := range x {
		for k := range x[i] {
			dst[i][k] = float32(d.factor.Load()) * x[i][k]
		}
	}
	return nil
}

// isZero reports whether a batch is the one that warms a session.
func isZero(x [][2]float32) bool {
	for i := range x {
		if x[i] != [2]float32{} {
			return false
		}
	}
	return true
}

func (d *doubler) model(name string) Model {
	if d.factor.Load() == 0 {
		d.factor.Store(2)
	}
	return Model{Name: name, Load: func(string) (rt.Served, error) {
		d.loads.Add(1)
		return rt.Served{
			Name: name,
			Methods: []rt.ServedMethod{{Name: "Forward", Batch: "N",
				Inputs:  []rt.Port{{Name: "x", DType: "f32", Shape: []string{"N", "2"}}},
				Outputs: []rt.Port{{Name: "y", DType: "f32", Shape: []string{"N", "2"}}}}},
			Open: func() (any, error) { return &doublerSession{model: d}, nil },
			Swap: func(w *rt.Weights) error {
				names := w.Names()
				if len(names) != 1 {
					return fmt.Errorf("weights %q, want one", names)
				}
				d.factor.Store(int64(len(names[0])))
				return nil
			},
		}, nil
	}}
}

// echo is a model that returns its inputs, of every type, in the forms of a generated package whose shapes
// are open.
type echo struct{}

type echoes struct {
	Bool rt.Tensor[bool]
	U8   rt.Tensor[uint8]
	U16  rt.Tensor[uint16]
	U32  rt.Tensor[uint32]
	U64  rt.Tensor[uint64]
	I8   rt.Tensor[int8]
	I16  rt.Tensor[int16]
	I32  rt.Tensor[int32]
	I64  rt.Tensor[int64]
	F16  rt.Tensor[rt.Float16]
	BF16 rt.Tensor[rt.BFloat16]
	F32  rt.Tensor[float32]
	F64  rt.Tensor[float64]
	Text rt.Tensor[string]
}

func (echo) SetContext(context.Context) {}

func (echo) Forward(dst *echoes, in echoes) error {
	*dst = in
	return nil
}

func echoModel() Model {
	var ports []rt.Port
	for _, d := range datatypes {
		ports = append(ports, rt.Port{Name: strings.ToLower(d.name), DType: d.dtype, Shape: []string{"A", "B"}})
	}
	return Model{Name: "echo", Load: func(string) (rt.Served, error) {
		return rt.Served{Name: "echo", Methods: []rt.ServedMethod{{Name: "Forward", Inputs: ports, Outputs: ports}},
			Open: func() (any, error) { return echo{}, nil }}, nil
	}}
}

// summer is a model with a state: the sum of what its session has got.
type summer struct{ sum float32 }

func (s *summer) SetContext(context.Context) {}
func (s *summer) Reset()                     { s.sum = 0 }

func (s *summer) Forward(dst, x *[1]float32) error {
	if x[0] < 0 {
		return fmt.Errorf("%v is negative", x[0])
	}
	s.sum += x[0]
	dst[0] = s.sum
	return nil
}

func summerModel() Model {
	one := func(name string) []rt.Port { return []rt.Port{{Name: name, DType: "f32", Shape: []string{"1"}}} }
	return Model{Name: "sum", Load: func(string) (rt.Served, error) {
		return rt.Served{Name: "sum", Methods: []rt.ServedMethod{{Name: "Forward", Inputs: one("x"), Outputs: one("y"), Stateful: true}},
			Open: func() (any, error) { return &summer{}, nil }}, nil
	}}
}

// newTest returns a server, which ends with the test.
func newTest(t testing.TB, o Options, models ...Model) *Server {
	t.Helper()
	s, err := New(o, models...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// post answers a request with a body. header has names and values.
func post(s *Server, path string, body io.Reader, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, path, body)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w
}

// pair returns the body of a request for a doubler.
func pair(a, b float32) *strings.Reader {
	return strings.NewReader(fmt.Sprintf(`{"inputs":[{"name":"x","shape":[1,2],"datatype":"FP32","data":[%v,%v]}]}`, a, b))
}

// output returns the data of the first output of an answer.
func output(t testing.TB, w *httptest.ResponseRecorder) []float64 {
	t.Helper()
	var a struct {
		Outputs []struct{ Data []float64 }
	}
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil || w.Code != http.StatusOK || len(a.Outputs) == 0 {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	return a.Outputs[0].Data
}

// until waits for a condition.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for range 5000 {
		if ok() {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
	t.Fatalf("%s did not happen", what)
}

// metric returns the value of a metric with these labels, such as `burngen_x{model="m"}`.
func metric(t testing.TB, s *Server, name string) string {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	for line := range bytes.Lines(w.Body.Bytes()) {
		if value, ok := bytes.CutPrefix(line, []byte(name+" ")); ok {
			return strings.TrimSpace(string(value))
		}
	}
	return ""
}
