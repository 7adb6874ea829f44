package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestRun asserts that failures are counted, and that an answer that closes its connection ends a loop.
func TestRun(t *testing.T) {
	var asked atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch n := asked.Add(1); {
		case n == 3:
			http.Error(w, "not now", http.StatusServiceUnavailable)
		case n == 5:
			panic(http.ErrAbortHandler)
		case n >= 7:
			w.Header().Set("Connection", "close")
		}
	}))
	defer s.Close()
	l := run(strings.TrimPrefix(s.URL, "http://"), []byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"), 1, make(chan struct{}))
	if asked.Load() != 7 || len(l.latencies) != 5 || l.failed != 2 || l.failure != "status 503: not now\n" {
		t.Errorf("%d requests, %d answers, %d failures, the first %q", asked.Load(), len(l.latencies), l.failed, l.failure)
	}
	if l.quantile(0) > l.quantile(1) || l.perSecond() <= 0 {
		t.Errorf("%+v", l)
	}
	stopped := runFor("127.0.0.1:0", nil, 2, time.Millisecond)
	if len(stopped.latencies)+stopped.failed > 0 {
		t.Errorf("%+v without a server", stopped)
	}
}

func TestRequests(t *testing.T) {
	in, err := draw([]tensor{{Name: "x", Datatype: "FP32", Shape: []int{-1, 3}}})
	if err != nil || len(in[0].Data) != 12 {
		t.Fatalf("%v, %+v", err, in)
	}
	if _, err := draw([]tensor{{Name: "x", Datatype: "BYTES"}}); err == nil {
		t.Error("texts are drawn")
	}
	head, body, _ := strings.Cut(string(restRequest("m", in)), "\r\n\r\n")
	if !strings.HasPrefix(head, "POST /v2/models/m/infer HTTP/1.1\r\n") || !strings.HasSuffix(body, string(in[0].Data)) {
		t.Errorf("%s\n%q", head, body)
	}
	answer := `{"outputs":[{"name":"y","datatype":"FP32","shape":[1,3],"parameters":{"binary_data_size":12}}]}`
	out, err := outputs([]byte(answer+string(in[0].Data)), len(answer))
	if err != nil {
		t.Fatal(err)
	}
	in[0].Name = "y"
	if d, err := difference(out, in); err != nil || d != 0 {
		t.Errorf("%v, %v", d, err)
	}
	out[0].Data = append([]byte{}, out[0].Data...)
	out[0].Data[2] ^= 64
	if d, err := difference(out, in); err != nil || d == 0 {
		t.Errorf("%v, %v, want a difference", d, err)
	}
	if _, err := outputs([]byte(answer), len(answer)); err == nil {
		t.Error("an answer without its tensor is taken")
	}
}

func TestMessages(t *testing.T) {
	message := appendField(appendField(appendField(nil, 1, []byte("m")), 6, []byte{1, 2}), 6, []byte{})
	got, err := rawOutputs(message)
	if d := cmp.Diff([][]byte{{1, 2}, {}}, got); err != nil || d != "" {
		t.Errorf("%v (-want +got)\n%s", err, d)
	}
	if _, err := rawOutputs(message[:5]); err == nil {
		t.Error("a torn message is taken")
	}
	in := []tensor{{Name: "x", Datatype: "FP32", Shape: []int{1, 300}, Data: []byte{9}}}
	want := "\x0a\x01m" + "\x2a\x0e\x0a\x01x\x12\x04FP32\x1a\x03\x01\xac\x02" + "\x3a\x01\x09"
	if got := string(grpcRequest("m", in)); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
