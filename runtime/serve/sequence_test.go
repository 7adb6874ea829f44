package serve

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// step sends a number in a sequence.
func step(s *Server, id any, start, end bool, v float32) *httptest.ResponseRecorder {
	name := fmt.Sprint(id)
	if text, ok := id.(string); ok {
		name = fmt.Sprintf("%q", text)
	}
	return post(s, "/v2/models/sum/infer", strings.NewReader(fmt.Sprintf(
		`{"parameters":{"sequence_id":%s,"sequence_start":%v,"sequence_end":%v},"inputs":[{"name":"x","shape":[1],"datatype":"FP32","data":[%v]}]}`, name, start, end, v)))
}

func TestSequences(t *testing.T) {
	s := newTest(t, Options{Sessions: 2, MaxSequences: 2}, summerModel())
	expect := func(w *httptest.ResponseRecorder, want float64) {
		t.Helper()
		if got := output(t, w); got[0] != want {
			t.Errorf("%v, want %v", got, want)
		}
	}
	refuse := func(w *httptest.ResponseRecorder, status int, text string) {
		t.Helper()
		if w.Code != status || !strings.Contains(w.Body.String(), text) {
			t.Errorf("%d %s, want %d with %q", w.Code, w.Body, status, text)
		}
	}
	refuse(step(s, 7, false, false, 1), 400, "is not known")
	expect(step(s, 7, true, false, 1), 1)
	expect(step(s, "a", true, false, 10), 10)
	expect(step(s, 7, false, false, 2), 3)
	expect(step(s, "a", false, false, 20), 30)
	refuse(step(s, 8, true, false, 1), 429, "2 sequences")
	refuse(step(s, 7, false, false, -1), 400, "negative")
	expect(step(s, 7, false, false, 3), 6)
	expect(step(s, 7, true, false, 5), 5)
	expect(step(s, 7, false, true, 1), 6)
	refuse(step(s, 7, false, false, 1), 400, "is not known")
	expect(step(s, 8, true, false, 4), 4)
	expect(post(s, "/v2/models/sum/infer", strings.NewReader(`{"inputs":[{"name":"x","shape":[1],"datatype":"FP32","data":[3]}]}`)), 3)
	expect(post(s, "/v2/models/sum/infer", strings.NewReader(`{"inputs":[{"name":"x","shape":[1],"datatype":"FP32","data":[3]}]}`)), 3)
	if got := metric(t, s, `burngen_sequences{model="sum"}`); got != "2" {
		t.Errorf("%q sequences", got)
	}
}

// TestSequencesExpire asserts that a sequence ends after its time to live.
func TestSequencesExpire(t *testing.T) {
	s := newTest(t, Options{Sessions: 1, MaxSequences: 1, SequenceTTL: time.Millisecond}, summerModel())
	if w := step(s, 1, true, false, 1); w.Code != 200 {
		t.Fatal(w.Body)
	}
	until(t, "room for another sequence", func() bool { return step(s, 2, true, true, 1).Code == 200 })
	if w := step(s, 1, false, false, 1); w.Code != 400 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestSequenceInOrder sends requests of one sequence at the same time: one runs after the other.
func TestSequenceInOrder(t *testing.T) {
	s := newTest(t, Options{Sessions: 4}, summerModel())
	step(s, 1, true, false, 0)
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() { step(s, 1, false, false, 1) })
	}
	wg.Wait()
	if got := output(t, step(s, 1, false, true, 0)); got[0] != 50 {
		t.Errorf("%v, want 50", got)
	}
}
