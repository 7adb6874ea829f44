package contract

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/burngen/burngen/runtime/rt"
)

// rawFile holds the weights of the source model.
const rawFile = "raw.safetensors"

// opened returns the model with the weights it was generated with.
func opened(t *testing.T) *Model {
	t.Helper()
	m, err := load()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// session opens a session of m.
func session(t *testing.T, m *Model) *Session {
	t.Helper()
	s, err := m.NewSession(nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// forward computes m for the arguments of a seed.
func forward(t *testing.T, m *Model, seed uint32) []float32 {
	t.Helper()
	r, err := m.Forward(draw(seed))
	if err != nil {
		t.Fatal(err)
	}
	return elements(r)
}

// refused checks that err is an error that the caller caused, with the given words in it. It must
// not be a panic that became an error.
func refused(t *testing.T, err error, words ...string) {
	t.Helper()
	var broke *rt.PanicError
	switch {
	case err == nil:
		t.Error("no error")
	case errors.As(err, &broke):
		t.Errorf("%v\n%s", err, broke.Stack)
	}
	for _, w := range words {
		if err != nil && !strings.Contains(err.Error(), w) {
			t.Errorf("%q does not tell %q", err, w)
		}
	}
}

func TestSessionDoesNotAllocate(t *testing.T) {
	s, x := session(t, opened(t)), draw(1)
	r := result()
	if err := into(s, r, x); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(10, func() {
		if err := into(s, r, x); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations per call", n)
	}
}

func BenchmarkSession(b *testing.B) {
	m, err := load()
	if err != nil {
		b.Fatal(err)
	}
	s, err := m.NewSession(nil)
	if err != nil {
		b.Fatal(err)
	}
	r, x := result(), draw(1)
	if err := into(s, r, x); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := into(s, r, x); err != nil {
			b.Fatal(err)
		}
	}
}

func TestOwnWeightsGiveTheSameBits(t *testing.T) {
	m, err := loadFrom(rt.OpenWeightsFile(rawFile))
	if err != nil {
		t.Fatal(err)
	}
	own := opened(t)
	for seed := range uint32(3) {
		got, want := forward(t, m, seed), forward(t, own, seed)
		if !slices.Equal(bits(got), bits(want)) {
			t.Errorf("seed %d: LoadFrom gives %v, Load %v", seed, got, want)
		}
	}
}

// rawWeights returns the weights of rawFile. edit is called for each tensor and returns its new
// shape, and whether to keep the tensor.
func rawWeights(t *testing.T, edit func(info rt.Info) (shape []int, keep bool)) *rt.Weights {
	t.Helper()
	file := rt.OpenWeightsFile(rawFile)
	if err := file.Err(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	out := rt.NewWeights()
	for _, name := range file.Names() {
		info, _ := file.Info(name)
		if shape, keep := edit(info); keep {
			out.AddRaw(name, info.DType, shape, file.Raw(name))
		}
	}
	if err := out.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestWeightsThatDoNotFitAreNamed(t *testing.T) {
	names := rawWeights(t, func(i rt.Info) ([]int, bool) { return i.Shape, true }).Names()
	if len(names) == 0 || len(names) != len(wanted()) {
		t.Fatalf("%d weights, %d are wanted", len(names), len(wanted()))
	}
	want := bits(forward(t, opened(t), 1))
	for _, w := range wanted() {
		name := w.Name
		m, err := loadFrom(rawWeights(t, func(i rt.Info) ([]int, bool) { return i.Shape, i.Name != name }))
		if !w.Optional {
			refused(t, err, name)
		} else if err != nil {
			t.Error(err)
		} else if !slices.Equal(bits(forward(t, m, 1)), want) {
			t.Errorf("without %s, of which the package has its own: another result", name)
		}
		_, err = loadFrom(rawWeights(t, func(i rt.Info) ([]int, bool) { return i.Shape, i.Name == name }))
		if len(names) > 1 {
			refused(t, err, "file has no such tensor")
		}
		_, err = loadFrom(rawWeights(t, func(i rt.Info) ([]int, bool) {
			if i.Name == name {
				return append(i.Shape, 1), true
			}
			return i.Shape, true
		}))
		refused(t, err, name)
	}
	_, err := loadFrom(nil)
	refused(t, err)
	_, err = loadFrom(rt.OpenWeightsFile("none.safetensors"))
	refused(t, err, "none.safetensors")
	closed := rt.OpenWeightsFile(rawFile)
	closed.Close()
	if _, err = loadFrom(closed); !errors.Is(err, rt.ErrClosed) {
		t.Errorf("closed weights give %v", err)
	}
}

// TestWeightsOutliveTheirHandle closes a file while a model made from it is used.
func TestWeightsOutliveTheirHandle(t *testing.T) {
	w := rt.OpenWeightsFile(rawFile)
	m, err := loadFrom(w)
	if err != nil {
		t.Fatal(err)
	}
	want := forward(t, m, 1)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got := forward(t, m, 1); !slices.Equal(bits(got), bits(want)) {
		t.Errorf("after Close: %v, before: %v", got, want)
	}
}

// other returns weights of the model's shapes with the same elements in another order.
func other(t *testing.T) *rt.Weights {
	t.Helper()
	same := rawWeights(t, func(i rt.Info) ([]int, bool) { return i.Shape, true })
	out := rt.NewWeights()
	for _, name := range same.Names() {
		info, _ := same.Info(name)
		if info.DType != "f32" {
			out.AddRaw(name, info.DType, info.Shape, same.Raw(name))
			continue
		}
		x := slices.Clone(rt.WeightsOf[float32](same, name, info.Shape...))
		slices.Reverse(x)
		rt.Add(out, name, x, info.Shape...)
	}
	if err := errors.Join(same.Err(), out.Err()); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestSwapWhileGoroutinesCompute changes the weights while the model is in use. A result must come
// entirely from the old weights or entirely from the new ones.
func TestSwapWhileGoroutinesCompute(t *testing.T) {
	const goroutines, calls, swaps = 4, 20, 30
	m, raw := opened(t), [2]*rt.Weights{other(t), rt.OpenWeightsFile(rawFile)}
	x := draw(1)
	var want [2][]uint32
	for i, w := range raw {
		alone, err := loadFrom(w)
		if err != nil {
			t.Fatal(err)
		}
		want[i] = bits(forward(t, alone, 1))
	}
	if slices.Equal(want[0], want[1]) {
		t.Fatal("other weights give the same result")
	}
	var group sync.WaitGroup
	for range goroutines {
		s, r := session(t, m), result()
		group.Go(func() {
			for range calls {
				a, err := m.Forward(x)
				if err == nil {
					err = into(s, r, x)
				}
				if err != nil {
					t.Error(err)
					return
				}
				for _, got := range [][]uint32{bits(elements(a)), bits(elements(*r))} {
					if !slices.Equal(got, want[0]) && !slices.Equal(got, want[1]) {
						t.Error("a result of neither weights")
					}
				}
			}
		})
	}
	for i := range swaps {
		if err := m.Swap(raw[i%2]); err != nil {
			t.Error(err)
		}
	}
	group.Wait()
	if got := bits(forward(t, m, 1)); !slices.Equal(got, want[(swaps-1)%2]) {
		t.Error("after the last of them: not its weights")
	}
	if err := raw[1].Close(); err != nil {
		t.Error(err)
	}
	runtime.GC()
	if got := bits(forward(t, m, 1)); !slices.Equal(got, want[1]) {
		t.Error("after the file is closed: another result")
	}
}

// TestSwapChangesTheNextCallOfASession also asserts that a call does not allocate for it.
func TestSwapChangesTheNextCallOfASession(t *testing.T) {
	m, changed := opened(t), other(t)
	s, x, r := session(t, m), draw(1), result()
	call := func() []uint32 {
		if err := into(s, r, x); err != nil {
			t.Fatal(err)
		}
		return bits(elements(*r))
	}
	before := call()
	missing := rawWeights(t, func(rt.Info) ([]int, bool) { return nil, false })
	refused(t, m.Swap(missing))
	refused(t, m.Swap(nil))
	if !slices.Equal(call(), before) {
		t.Error("a refused Swap changes the result")
	}
	if err := m.Swap(changed); err != nil {
		t.Fatal(err)
	}
	if slices.Equal(call(), before) {
		t.Error("the session computes with the old weights")
	}
	if n := testing.AllocsPerRun(10, func() {
		if err := into(s, r, x); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations per call", n)
	}
}

func TestModelServesManyGoroutines(t *testing.T) {
	const goroutines, calls = 8, 6
	m := opened(t)
	want := make([][]float32, calls)
	for seed := range want {
		want[seed] = forward(t, m, uint32(seed))
	}
	var group sync.WaitGroup
	for g := range goroutines {
		group.Go(func() {
			for call := range calls {
				seed := (g + call) % calls
				r, err := m.Forward(draw(uint32(seed)))
				if err != nil {
					t.Error(err)
				} else if !slices.Equal(bits(elements(r)), bits(want[seed])) {
					t.Errorf("goroutine %d: another result for seed %d", g, seed)
				}
			}
		})
	}
	group.Wait()
}

// TestAnyNumberOfWorkersGivesTheSameBits shares the work of one caller, and of two at a time, among
// more workers than the machine may have processors.
func TestAnyNumberOfWorkersGivesTheSameBits(t *testing.T) {
	const seeds = 4
	m := opened(t)
	procs := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(procs)
	var want [seeds][]uint32
	for seed := range want {
		want[seed] = bits(forward(t, m, uint32(seed)))
	}
	for _, workers := range []int{2, 3, 7, 16} {
		runtime.GOMAXPROCS(workers)
		if got := rt.Threads(0); got != workers {
			t.Fatalf("%d threads with %d processors", got, workers)
		}
		if !slices.Equal(bits(forward(t, m, 0)), want[0]) {
			t.Errorf("%d workers for one caller: another result", workers)
		}
		var group sync.WaitGroup
		for g := range 2 {
			s, r := session(t, m), result()
			group.Go(func() {
				for call := range seeds {
					seed := (g + call) % seeds
					if err := into(s, r, draw(uint32(seed))); err != nil {
						t.Error(err)
					} else if !slices.Equal(bits(elements(*r)), want[seed]) {
						t.Errorf("%d workers for two callers: another result for seed %d", workers, seed)
					}
				}
			})
		}
		group.Wait()
	}
}

func TestSessionTakesOneCallAtATime(t *testing.T) {
	const goroutines, calls = 4, 50
	m := opened(t)
	s := session(t, m)
	x := draw(1)
	want := bits(forward(t, m, 1))
	var group sync.WaitGroup
	for range goroutines {
		group.Go(func() {
			r := result()
			for range calls {
				switch err := into(s, r, x); {
				case errors.Is(err, rt.ErrBusy):
				case err != nil:
					t.Error(err)
				case !slices.Equal(bits(elements(*r)), want):
					t.Error("another result")
				}
			}
		})
	}
	group.Wait()
	r := result()
	if err := into(s, r, x); err != nil {
		t.Errorf("after all calls: %v", err)
	}
}

// lateContext is cancelled when it has been asked a number of times whether it is.
type lateContext struct {
	context.Context
	mu   sync.Mutex
	left int
}

func (c *lateContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestForwardEndsWithItsContext(t *testing.T) {
	m, x := opened(t), draw(1)
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	reason := errors.New("enough")
	caused, cancelCause := context.WithCancelCause(context.Background())
	cancelCause(reason)
	over, cancelOver := context.WithDeadline(context.Background(), time.Now().Add(-time.Second))
	defer cancelOver()
	for name, test := range map[string]struct {
		ctx  context.Context
		want error
	}{
		"cancelled":  {cancelled, context.Canceled},
		"deadline":   {over, context.DeadlineExceeded},
		"cause":      {caused, reason},
		"during":     {&lateContext{Context: context.Background(), left: 1}, context.Canceled},
		"background": {context.Background(), nil},
		"nil":        {nil, nil},
	} {
		if _, err := m.ForwardContext(test.ctx, x); !errors.Is(err, test.want) {
			t.Errorf("%s: error %v, want %v", name, err, test.want)
		}
	}
	s, r := session(t, m), result()
	s.SetContext(cancelled)
	if err := into(s, r, x); !errors.Is(err, context.Canceled) {
		t.Errorf("session: error %v", err)
	}
	s.SetContext(nil)
	if err := into(s, r, x); err != nil {
		t.Errorf("session without a context: %v", err)
	}
}

// TestForwardEndsWhereverItsContextDoes ends a call at every place that checks the context. The
// call must return the context's error or the whole result. The session's next call must return the
// usual result.
func TestForwardEndsWhereverItsContextDoes(t *testing.T) {
	const many = 1 << 30
	m, x := opened(t), draw(1)
	s, r := session(t, m), result()
	if err := into(s, r, x); err != nil {
		t.Fatal(err)
	}
	want := bits(elements(*r))
	never, cancel := context.WithCancel(context.Background()) // whose Done is not nil
	defer cancel()
	whole := &lateContext{Context: never, left: many}
	s.SetContext(whole)
	if err := into(s, r, x); err != nil || !slices.Equal(bits(elements(*r)), want) {
		t.Fatalf("a context that does not end: error %v, or another result", err)
	}
	asks := many - whole.left
	for n := range asks + 1 {
		s.SetContext(&lateContext{Context: never, left: n})
		if err := into(s, r, x); !errors.Is(err, context.Canceled) && (err != nil || n < asks) {
			t.Errorf("a context that ends when it is asked %d times of %d: error %v", n, asks, err)
		}
		s.SetContext(nil)
		if err := into(s, r, x); err != nil || !slices.Equal(bits(elements(*r)), want) {
			t.Errorf("the call after: error %v, or another result", err)
		}
	}
}

// TestModelKeepsNoContext waits for the context of a call that has ended to be collected.
func TestModelKeepsNoContext(t *testing.T) {
	m := opened(t)
	collected := make(chan struct{})
	func() {
		ctx := &lateContext{Context: context.Background(), left: 1 << 30}
		runtime.AddCleanup(ctx, func(done chan struct{}) { close(done) }, collected)
		if _, err := m.ForwardContext(ctx, draw(1)); err != nil {
			t.Fatal(err)
		}
	}()
	for range 1000 {
		runtime.GC()
		select {
		case <-collected:
			runtime.KeepAlive(m)
			return
		default:
			time.Sleep(time.Millisecond)
		}
	}
	t.Error("the context is still there")
}

// TestWhatIsNotOpenReturnsErrors calls the methods of models and sessions that were not made by a
// function of the package.
func TestWhatIsNotOpenReturnsErrors(t *testing.T) {
	for name, m := range map[string]*Model{"a nil model": nil, "the zero model": {}} {
		_, forward := m.Forward(draw(1))
		_, late := m.ForwardContext(context.Background(), draw(1))
		_, session := m.NewSession(nil)
		for method, err := range map[string]error{
			"Forward": forward, "ForwardContext": late, "NewSession": session, "Swap": m.Swap(other(t)),
		} {
			if !errors.Is(err, rt.ErrNoModel) {
				t.Errorf("%s: %s: error %v", name, method, err)
			}
		}
	}
	for name, s := range map[string]*Session{"a nil session": nil, "the zero session": {}} {
		s.SetContext(context.Background())
		if err := into(s, result(), draw(1)); !errors.Is(err, rt.ErrNoSession) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestForwardLeavesItsArgumentsAlone(t *testing.T) {
	m, x := opened(t), draw(1)
	before := slices.Clone(argument(x))
	if _, err := m.Forward(x); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(argument(x), before) {
		t.Error("the argument is another after Forward")
	}
}

// TestResultsAreTheCallers changes a result and calls again.
func TestResultsAreTheCallers(t *testing.T) {
	m := opened(t)
	r, err := m.Forward(draw(1))
	if err != nil {
		t.Fatal(err)
	}
	want := bits(elements(r))
	if forward(t, m, 2); !slices.Equal(bits(elements(r)), want) {
		t.Error("the first result is another after the second call")
	}
	if again := forward(t, m, 1); !slices.Equal(bits(again), want) {
		t.Error("the third call gives another result than the first")
	}
}

// bits returns the patterns of numbers, for an exact comparison.
func bits(x []float32) []uint32 {
	out := make([]uint32, len(x))
	for i, v := range x {
		out[i] = math.Float32bits(v)
	}
	return out
}
