package gpu

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"
	"unsafe"
)

// fake is a driver with one device that executes at once, on memory of the host. Its kernels are Go
// functions.
type fake struct {
	Driver
	t       *testing.T
	mu      sync.Mutex // guards live: memory is also freed by cleanups, in goroutines of their own
	kernels map[string]func(args []uint64)
	live    map[Address][]byte
	limit   int64 // of memory; 0 for none
	// counts are the calls of the queue, by their name.
	counts map[string]int
	// clock counts what the queue has done, in milliseconds.
	clock    time.Duration
	readings []time.Duration
	noClock  bool
}

func newFake(t *testing.T) *fake {
	return &fake{t: t, kernels: map[string]func([]uint64){}, live: map[Address][]byte{}, counts: map[string]int{}}
}

// pieces returns the number of allocations that are not given back.
func (f *fake) pieces() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.live)
}

func (f *fake) Devices() ([]Info, error) { return make([]Info, 1), nil }
func (f *fake) Name() string             { return "cuda" }
func (f *fake) Open(int) (Opened, error) { return fakeDevice{f: f}, nil }

type fakeDevice struct {
	Opened
	f *fake
}

func (d fakeDevice) Info() Info { return Info{Name: "fake"} }

func (d fakeDevice) Alloc(n int64) (Address, error) {
	d.f.mu.Lock()
	defer d.f.mu.Unlock()
	total := n
	for _, m := range d.f.live {
		total += int64(len(m))
	}
	if d.f.limit > 0 && total > d.f.limit {
		return 0, ErrMemory
	}
	m := make([]byte, n+granularity)
	at := Address(uintptr(unsafe.Pointer(&m[0])) + granularity - 1)
	at -= at % granularity
	d.f.live[at] = m
	return at, nil
}

func (d fakeDevice) Free(a Address) {
	d.f.mu.Lock()
	defer d.f.mu.Unlock()
	if a != 0 && d.f.live[a] == nil {
		d.f.t.Errorf("%#x is freed twice", a)
	}
	delete(d.f.live, a)
}

// AllocMapped counts as "mapped".
func (d fakeDevice) AllocMapped(n int) ([]byte, Address, error) {
	at, err := d.Alloc(int64(n))
	if err != nil {
		return nil, 0, err
	}
	d.f.counts["mapped"]++
	return (&fakeQueue{f: d.f}).at(at, n), at, nil
}

func (d fakeDevice) Load([]byte) (Module, error) { return fakeModule{f: d.f}, nil }
func (d fakeDevice) Queue() (Queue, error)       { return &fakeQueue{f: d.f}, nil }

type fakeModule struct {
	Module
	f *fake
}

func (m fakeModule) Kernel(k KernelInfo) (Kernel, error) {
	if m.f.kernels[k.Name] == nil {
		return nil, fmt.Errorf("no kernel %s", k.Name)
	}
	return m.f.kernels[k.Name], nil
}

// fakeQueue executes at once, or records.
type fakeQueue struct {
	Queue
	f        *fake
	recorded *[]func()
}

// do does or records something.
func (q *fakeQueue) do(name string, what func()) error {
	if q.recorded != nil {
		*q.recorded = append(*q.recorded, what)
		return nil
	}
	q.f.counts[name]++
	q.f.clock += time.Millisecond
	what()
	return nil
}

func (q *fakeQueue) Stamp() error {
	if q.f.noClock {
		return ErrNoClock
	}
	q.f.readings = append(q.f.readings, q.f.clock)
	return nil
}

func (q *fakeQueue) Stamps() ([]time.Duration, error) {
	readings := q.f.readings
	q.f.readings = nil
	for i := len(readings) - 1; i >= 0; i-- {
		readings[i] -= readings[0]
	}
	return readings, nil
}

// at returns device memory.
func (q *fakeQueue) at(a Address, n int) []byte {
	q.f.mu.Lock()
	defer q.f.mu.Unlock()
	for start, m := range q.f.live {
		if offset := a - start; a >= start && int(offset)+n <= len(m)-granularity {
			return unsafe.Slice(&m[int(start-Address(uintptr(unsafe.Pointer(&m[0]))))+int(offset)], n)
		}
	}
	q.f.t.Errorf("%d bytes at %#x are not allocated", n, a)
	return make([]byte, n)
}

func (q *fakeQueue) Upload(to Address, from []byte) error {
	return q.do("upload", func() { copy(q.at(to, len(from)), from) })
}

func (q *fakeQueue) Download(to []byte, from Address) error {
	return q.do("download", func() { copy(to, q.at(from, len(to))) })
}

func (q *fakeQueue) Copy(to, from Address, n int) error {
	return q.do("copy", func() { copy(q.at(to, n), q.at(from, n)) })
}

func (q *fakeQueue) Launch(k Kernel, _ [3]int, args []uint64) error {
	args = append([]uint64(nil), args...)
	return q.do("launch", func() { k.(func([]uint64))(args) })
}

type fakeGraph struct {
	f     *fake
	steps []func()
}

func (g *fakeGraph) Close() { g.f.counts["closed graph"]++ }

func (q *fakeQueue) Record(fill func(Queue) error) (Graph, error) {
	g := &fakeGraph{f: q.f}
	err := fill(&fakeQueue{f: q.f, recorded: &g.steps})
	return g, err
}

func (q *fakeQueue) Replay(g Graph) error {
	return q.do("replay", func() {
		for _, step := range g.(*fakeGraph).steps {
			step()
		}
	})
}

func (q *fakeQueue) Wait(ctx context.Context) error {
	q.f.counts["wait"]++
	if ctx != nil {
		return ctx.Err()
	}
	return nil
}

func (q *fakeQueue) Close() error { return nil }

// floats returns device memory as numbers.
func floats(a uint64, n int) []float32 {
	return unsafe.Slice(*(**float32)(unsafe.Pointer(&a)), n)
}

// opened returns a run on a fake.
func opened(t *testing.T, options ...Option) (*fake, *Run) {
	t.Helper()
	f, code := newFake(t), "code"
	// y = 2 x, of n numbers.
	f.kernels["double"] = func(args []uint64) {
		x, y := floats(args[1], int(args[0])), floats(args[2], int(args[0]))
		for i := range x {
			y[i] = 2 * x[i]
		}
	}
	// y = x, of groups of 4 numbers.
	f.kernels["copy"] = func(args []uint64) { copy(floats(args[2], 4*int(args[0])), floats(args[3], 4*int(args[0]))) }
	r := &Run{}
	p := &Program{Driver: func() Driver { return f }, Code: &code}
	if err := r.Open(p.With(options...)); err != nil {
		t.Fatal(err)
	}
	return f, r
}

// forgetAll gives all weights back.
func (i *Instance) forgetAll() {
	for key := range i.weights {
		i.forget(key)
	}
}
