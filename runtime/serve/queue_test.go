package serve

import (
	"context"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/burngen/burngen/runtime/rt/untyped"
)

// waiting is a job for a queue.
func waiting(m *untyped.Method, client string, n int) *job {
	return &job{ctx: context.Background(), method: m, client: client, items: n, done: make(chan struct{}),
		in: []untyped.Tensor{{Port: m.In[0], Shape: []int{n, 2}}}}
}

func pairs(batch bool) *untyped.Method {
	p := &untyped.Port{Name: "x", DType: "f32", Size: 4, Extents: []int{-1, 2}, Symbols: []string{"N", "2"}}
	return &untyped.Method{Label: "m", In: []*untyped.Port{p}, Out: []*untyped.Port{p}, Batch: batch}
}

// TestClientsTakeTurns asserts that a client with many requests does not hold up a client with few.
func TestClientsTakeTurns(t *testing.T) {
	q, m := newQueue(100), pairs(false)
	for range 10 {
		q.push(waiting(m, "greedy", 1))
	}
	q.push(waiting(m, "modest", 1))
	q.push(waiting(m, "third", 1))
	var order []string
	for range 6 {
		batch, _ := q.take(1, 0)
		order = append(order, batch[0].client)
	}
	if want := []string{"greedy", "modest", "third", "greedy", "greedy", "greedy"}; !slices.Equal(order, want) {
		t.Errorf("%q, want %q", order, want)
	}
}

// TestFullQueue asserts that the client with most requests loses one when the queue is full.
func TestFullQueue(t *testing.T) {
	q, m := newQueue(4), pairs(false)
	var greedy []*job
	for range 4 {
		j := waiting(m, "greedy", 1)
		greedy = append(greedy, j)
		q.push(j)
	}
	modest := waiting(m, "modest", 1)
	q.push(modest)
	<-greedy[3].done
	if greedy[3].err != error(errFull) || modest.ended.Load() || q.len() != 4 {
		t.Errorf("%v, %d wait", greedy[3].err, q.len())
	}
	last := waiting(m, "greedy", 1)
	q.push(last)
	if <-last.done; last.err != error(errFull) {
		t.Error(last.err)
	}
}

func TestBatches(t *testing.T) {
	for _, c := range []struct {
		name  string
		batch bool
		items []int
		most  int
		want  string
	}{
		{"all", true, []int{1, 2, 3}, 8, "[1 2 3] idle"},
		{"full", true, []int{1, 2, 3}, 6, "[1 2 3] full"},
		{"the next does not fit", true, []int{1, 2, 3}, 5, "[1 2] full, [3] idle"},
		{"larger than allowed", true, []int{9, 1}, 4, "[9] full, [1] idle"},
		{"no joining", true, []int{1, 1}, 1, "[1] idle, [1] idle"},
		{"no batch", false, []int{1, 1}, 8, "[1] idle, [1] idle"},
	} {
		t.Run(c.name, func(t *testing.T) {
			q, m := newQueue(100), pairs(c.batch)
			for _, n := range c.items {
				q.push(waiting(m, "a", n))
			}
			q.close()
			var got []string
			for {
				batch, why := q.take(c.most, 0)
				if batch == nil {
					break
				}
				var sizes []int
				for _, j := range batch {
					sizes = append(sizes, j.items)
				}
				got = append(got, fmt.Sprint(sizes, " ", why))
			}
			if text := strings.Join(got, ", "); text != c.want {
				t.Errorf("%s, want %s", text, c.want)
			}
		})
	}
}

// TestShapesThatDifferDoNotJoin asserts that a batch has one shape of items.
func TestShapesThatDifferDoNotJoin(t *testing.T) {
	q, m := newQueue(100), pairs(true)
	q.push(waiting(m, "a", 1))
	other := waiting(m, "a", 1)
	other.in[0].Shape = []int{1, 5}
	q.push(other)
	q.push(waiting(m, "a", 1))
	batch, _ := q.take(8, 0)
	if len(batch) != 2 || slices.Contains(batch, other) {
		t.Errorf("%d requests", len(batch))
	}
}

// TestDelay asserts that a batch waits for others for the time that is allowed, and not when it is full.
func TestDelay(t *testing.T) {
	q, m := newQueue(100), pairs(true)
	q.push(waiting(m, "a", 1))
	start := time.Now()
	if batch, why := q.take(4, 30*time.Millisecond); len(batch) != 1 || why != delay || time.Since(start) < 25*time.Millisecond {
		t.Errorf("%d %s after %v", len(batch), why, time.Since(start))
	}
	q.push(waiting(m, "a", 1))
	go q.push(waiting(m, "b", 3))
	if batch, why := q.take(4, time.Hour); len(batch) != 2 || why != full {
		t.Errorf("%d %s", len(batch), why)
	}
}

func TestRemove(t *testing.T) {
	q, m := newQueue(100), pairs(true)
	j := waiting(m, "a", 1)
	q.push(j)
	if !q.remove(j) || q.remove(j) || q.len() != 0 || len(q.lines) != 0 {
		t.Error("the request is still there")
	}
	q.close()
	if q.push(j) {
		t.Error("a closed queue took a request")
	}
}

// TestJoinedRequests computes requests of several clients in one batch, and gives each its own results.
func TestJoinedRequests(t *testing.T) {
	d := &doubler{gate: make(chan struct{}), started: make(chan int, 100)}
	s := newTest(t, Options{Sessions: 1, MaxBatch: 8}, d.model("double"))
	var wg sync.WaitGroup
	ask := func(n int) {
		wg.Go(func() {
			got := output(t, post(s, "/v2/models/double/infer", pair(float32(n), 1)))
			if got[0] != float64(2*n) || got[1] != 2 {
				t.Errorf("%d: %v", n, got)
			}
		})
	}
	ask(1)
	<-d.started
	for n := 2; n <= 6; n++ {
		ask(n)
	}
	until(t, "the queue of 5", func() bool { return s.entries[0].now.Load().queue.len() == 5 })
	close(d.gate)
	if n := <-d.started; n != 5 {
		t.Errorf("a batch of %d", n)
	}
	wg.Wait()
	if got := metric(t, s, `burngen_batches_total{model="double",reason="idle"}`); got != "2" {
		t.Errorf("%q batches", got)
	}
}

// TestOneOfABatchFails asserts that requests do not fail for others that they are joined with.
func TestOneOfABatchFails(t *testing.T) {
	d := &doubler{gate: make(chan struct{}), started: make(chan int, 100)}
	d.fails = func(x [][2]float32) error {
		for _, p := range x {
			if p[0] == 13 {
				return fmt.Errorf("13 is not allowed")
			}
		}
		return nil
	}
	s := newTest(t, Options{Sessions: 1, MaxBatch: 8}, d.model("double"))
	answers := make([]*httptest.ResponseRecorder, 4)
	var wg sync.WaitGroup
	ask := func(i int, v float32) {
		wg.Go(func() { answers[i] = post(s, "/v2/models/double/infer", pair(v, 1)) })
	}
	ask(0, 1)
	<-d.started
	ask(1, 2)
	ask(2, 13)
	ask(3, 3)
	until(t, "the queue of 3", func() bool { return s.entries[0].now.Load().queue.len() == 3 })
	close(d.gate)
	wg.Wait()
	for i, want := range []int{200, 200, 400, 200} {
		if answers[i].Code != want {
			t.Errorf("request %d: %d %s", i, answers[i].Code, answers[i].Body)
		}
	}
}

// TestDeadline asserts that a request ends at its own deadline, in the queue and in a session, and that the
// model is free again.
func TestDeadline(t *testing.T) {
	d := &doubler{gate: make(chan struct{})}
	s := newTest(t, Options{Sessions: 1}, d.model("double"))
	body := `{"parameters":{"timeout":20000},"inputs":[{"name":"x","shape":[1,2],"datatype":"FP32","data":[1,2]}]}`
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if w := post(s, "/v2/models/double/infer", strings.NewReader(body)); w.Code != 504 {
				t.Errorf("%d %s", w.Code, w.Body)
			}
		})
	}
	wg.Wait()
	close(d.gate)
	if got := output(t, post(s, "/v2/models/double/infer", pair(1, 2))); got[0] != 2 {
		t.Error(got)
	}
}

// TestPanic asserts that a model that panics fails one request.
func TestPanic(t *testing.T) {
	d := &doubler{fails: func(x [][2]float32) error {
		if x[0][0] == 13 {
			panic("odd")
		}
		return nil
	}}
	s := newTest(t, Options{Sessions: 1}, d.model("double"))
	if w := post(s, "/v2/models/double/infer", pair(13, 2)); w.Code != 500 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if got := output(t, post(s, "/v2/models/double/infer", pair(1, 2))); got[0] != 2 {
		t.Error(got)
	}
}
