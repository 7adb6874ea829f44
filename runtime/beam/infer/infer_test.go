package infer

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/passert"

	"github.com/burngen/burngen/runtime/rt"
)

// sum is a model that sums the rows of f32[N,3]. It refuses batches with a negative number.
type sum struct{}

var loads, calls atomic.Int64

func (sum) Served() rt.Served {
	return rt.Served{
		Name: "sum",
		Methods: []rt.ServedMethod{{
			Name:    "Forward",
			Inputs:  []rt.Port{{Name: "x", DType: "f32", Shape: []string{"N", "3"}}},
			Outputs: []rt.Port{{Name: "y", DType: "f32", Shape: []string{"N"}}},
			Batch:   "N",
		}},
		Open: func() (any, error) { return &session{}, nil },
	}
}

// session is written as the session of a generated package.
type session struct{}

func (*session) SetContext(context.Context) {}

func (*session) Forward(dst *rt.Tensor[float32], x rt.Tensor[float32]) error {
	calls.Add(1)
	n := x.Shape[0]
	dst.Shape, dst.Data = []int{n}, make([]float32, n)
	for i, v := range x.Data {
		if v < 0 {
			return errors.New("a negative number")
		}
		dst.Data[i/3] += v
	}
	return nil
}

var model = Package("sum", func() (sum, error) {
	loads.Add(1)
	return sum{}, nil
})

func item(key string, x ...float32) Item {
	return Item{Key: key, Tensors: []Tensor{TensorOf(x, len(x))}}
}

func load(t *testing.T) *Loaded {
	t.Helper()
	l, err := model.Load()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestCompute(t *testing.T) {
	nan := float32(math.NaN())
	items := []Item{
		item("a", 1, 2, 3), item("short", 1, 2), item("negative", -1, 0, 0), item("b", 4, 5, 6), item("nan", nan, 0, 0),
		{Key: "empty"}, {Key: "large", Tensors: []Tensor{{Shape: []int{math.MaxInt, 3}}}},
		{Key: "bytes", Tensors: []Tensor{{Shape: []int{3}, Data: make([]byte, 13)}}},
	}
	out, errs := load(t).Compute(t.Context(), items)
	want := map[string]string{
		"a": "6", "b": "15", "nan": "NaN", "negative": "a negative number", "empty": "0 tensors", "large": "more elements",
		"bytes": "3 elements of f32, want 3", "short": "",
	}
	for i, it := range items {
		got := ""
		if errs[i] != nil {
			got = errs[i].Error()
		} else {
			y, err := Elements[float32](out[i].Tensors[0])
			if err != nil || len(y) != 1 || out[i].Key != it.Key || len(out[i].Tensors[0].Shape) != 0 {
				t.Fatalf("%s: %+v, %v", it.Key, out[i], err)
			}
			got = fmt.Sprint(y[0])
		}
		if w := want[it.Key]; w == "" && errs[i] == nil || !strings.Contains(got, w) {
			t.Errorf("%s: %s, want %s", it.Key, got, w)
		}
	}
}

func TestComputeEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l := load(t)
	var puts []func()
	for range cap(l.sessions) {
		_, put, err := l.session(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		puts = append(puts, put)
	}
	_, errs := l.Compute(ctx, []Item{item("a", 1, 2, 3)})
	for _, put := range puts {
		put()
	}
	if !errors.Is(errs[0], context.Canceled) {
		t.Errorf("%v while all sessions are taken", errs[0])
	}
}

func TestLoad(t *testing.T) {
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { model.Load() })
	}
	wg.Wait()
	if n := loads.Load(); n != 1 {
		t.Errorf("loaded %d times", n)
	}
	for m, want := range map[Model]string{
		{Name: "other"}:                   `model "other" is not registered in this program`,
		{Name: "sum", Method: "Backward"}: `model "sum" has no method "Backward"`,
	} {
		if _, err := m.Load(); err == nil || err.Error() != want {
			t.Errorf("%+v: %v, want %s", m, err, want)
		}
	}
}

func TestElements(t *testing.T) {
	x := TensorOf([]int64{1, -2}, 2)
	if got, err := Elements[int64](x); err != nil || !slices.Equal(got, []int64{1, -2}) {
		t.Error(got, err)
	}
	x.Data = x.Data[:9]
	if _, err := Elements[int64](x); err == nil {
		t.Error("9 bytes are elements of 8")
	}
	if got, err := Elements[string](TensorOf([]string{"a"}, 1)); err != nil || !slices.Equal(got, []string{"a"}) {
		t.Error(got, err)
	}
}

func init() {
	register.Function1x1(encode)
	register.Function1x2(decode)
	register.Function1x1(describe)
}

func encode(x float32) Item { return item(fmt.Sprint("item ", x), x, 0, 1) }

func decode(it Item) (string, error) {
	y, err := Elements[float32](it.Tensors[0])
	return fmt.Sprint(it.Key, ": ", y), err
}

func describe(f Failure) string { return f.Item.Key + ": " + f.Cause }

// TestMain lets Beam see its flags.
func TestMain(m *testing.M) {
	flag.Parse()
	beam.Init()
	os.Exit(m.Run())
}

func TestItems(t *testing.T) {
	p, s := beam.NewPipelineWithRoot()
	in := beam.ParDo(s, encode, beam.Create(s, float32(1), float32(2), float32(-3), float32(4), float32(5)))
	results, failures := Items(s, model, in, Options{MaxBatch: 2, KeepGoing: true})
	passert.Equals(s, beam.ParDo(s, decode, results), "item 1: [2]", "item 2: [3]", "item 4: [5]", "item 5: [6]")
	passert.Equals(s, beam.ParDo(s, describe, failures), "item -3: a negative number")
	r, err := prism.Execute(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int64{}
	for _, c := range r.Metrics().AllMetrics().Counters() {
		if c.Key.Namespace == "burngen" {
			got[c.Key.Name] = c.Committed
		}
	}
	for _, d := range r.Metrics().AllMetrics().Distributions() {
		if d.Key.Namespace == "burngen" {
			got[d.Key.Name] = d.Committed.Sum
			if d.Key.Name == "batch_items" && d.Committed.Max > 2 {
				t.Errorf("a batch of %d items", d.Committed.Max)
			}
		}
	}
	if got["items"] != 5 || got["failures"] != 1 || got["batch_items"] != 5 {
		t.Errorf("metrics %v", got)
	}
}

func TestItemsFail(t *testing.T) {
	p, s := beam.NewPipelineWithRoot()
	in := beam.ParDo(s, encode, beam.Create(s, float32(1), float32(-3)))
	Items(s, model, in, Options{})
	if _, err := prism.Execute(t.Context(), p); err == nil || !strings.Contains(err.Error(), "item -3: a negative number") {
		t.Errorf("%v", err)
	}
}

func TestItemsInWindows(t *testing.T) {
	_, s := beam.NewPipelineWithRoot()
	in := beam.ParDo(s, encode, beam.Create(s, float32(1)))
	defer func() {
		if r := recover(); r == nil || !strings.Contains(fmt.Sprint(r), "not in the global window") {
			t.Errorf("panic %v", r)
		}
	}()
	Items(s, model, beam.WindowInto(s, window.NewFixedWindows(time.Minute), in), Options{})
}
