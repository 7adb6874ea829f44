package rt

import (
	"context"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Task is work that can be split: Part(i, parts) does part i of parts, for every
// i from 0 to parts-1 exactly once, in any order and on any goroutine. Parts do
// not write what other parts read or write, and what they compute does not
// depend on how many there are.
type Task interface{ Part(i, parts int) }

// Threads sets how many goroutines, the caller's among them, may work on one
// inference, if n is above 0, and returns the setting before. It is GOMAXPROCS
// at first; more than GOMAXPROCS is never used. Inferences that begin later
// follow a new setting.
func Threads(n int) int {
	old := int(workers.setting.Load())
	if n > 0 {
		old = int(workers.setting.Swap(int32(min(n, maxThreads))))
	}
	if old == 0 {
		return runtime.GOMAXPROCS(0)
	}
	return old
}

// Begin starts an inference: until the End that follows, the worker pool waits
// for [Run] by spinning, which answers in less than a microsecond where waking
// takes many. A model without an operator worth splitting does not call it.
func Begin() { workers.begin() }

// End ends the inference of the last Begin. Workers that no inference needs any
// more stop spinning within about a tenth of a millisecond, so that calls in a
// row find them awake.
func End() { workers.end() }

// Run does the parts of t. Between [Begin] and [End] it shares them with the
// worker pool: worker k of n takes the same k-th of n runs of neighbouring parts
// every time, so that it finds in its caches what it left there; the caller does
// the share of a worker that has not started when its own is done. While other
// inferences are under way there are fewer workers for each, and while another
// Run has them, in a part that calls Run and outside of Begin and End, the
// caller does everything itself. Results are the same in all cases.
//
// Run returns when all parts are done. If some panicked, it returns a
// [PanicError] of the first share that did; the parts after it in that share are
// not done. Run does not allocate.
func Run(t Task, parts int) error { return RunUntil(context.Background(), t, parts) }

// RunUntil is [Run] that begins no more parts once ctx is done. It does not say whether it
// left some out: see [EndIfDone].
func RunUntil(ctx context.Context, t Task, parts int) error { return workers.run(ctx, t, parts) }

// Parts returns into how many parts to split work that one core does in ns
// nanoseconds: 1 where splitting costs more than it saves, at most the number of
// goroutines there are for it.
func Parts(ns int64) int {
	const worth = 5000 // ns that each part should take
	return int(max(1, min(ns/worth, int64(workers.available()))))
}

const (
	maxThreads = 1 << 10
	yieldAfter = 1 << 11 // turns of a waiting loop, 20 to 100 µs, until other goroutines and processes are let in
	linger     = 1 << 11 // turns that a worker waits for the next inference
)

// workers is the pool of the program.
var workers pool

// pool shares the parts of one task at a time with its workers. Worker 0 is the
// caller of Run; the others are goroutines that either spin or are parked.
type pool struct {
	setting atomic.Int32 // Threads, 0 for GOMAXPROCS
	limit   atomic.Int32 // threads for inferences, as Begin found them
	_       [64]byte
	state   atomic.Uint64 // inferences under way, and above bit 32 the number of Begins
	_       [64]byte
	job     atomic.Uint64 // participants of the current Run, and above bit 16 its number
	_       [64]byte
	pending atomic.Int32 // shares of the current Run that are not done
	_       [64]byte
	busy    atomic.Bool // a Run is under way; it owns the three that follow
	ctx     context.Context
	task    Task
	parts   int

	grow sync.Mutex
	list atomic.Pointer[[]*worker] // worker k is element k-1
}

type worker struct {
	_       [64]byte
	claimed atomic.Uint64 // number of the last Run whose share somebody took
	parked  atomic.Bool
	wake    chan struct{}
	err     error // of its share of the current Run
	_       [64]byte
}

func (p *pool) begin() {
	limit := min(Threads(0), runtime.GOMAXPROCS(0))
	p.limit.Store(int32(limit))
	if limit > 1 && len(p.all()) < limit-1 {
		p.start(limit - 1)
	}
	p.state.Add(1<<32 | 1)
	p.rouse(1)
}

func (p *pool) end() {
	state := p.state.Add(^uint64(0))
	if inferences := int(uint32(state)); inferences > 0 {
		p.rouse(int(p.limit.Load()) - inferences) // there is one thread more for the others
	}
}

func (p *pool) all() []*worker {
	if list := p.list.Load(); list != nil {
		return *list
	}
	return nil
}

// start makes the pool n workers large.
func (p *pool) start(n int) {
	p.grow.Lock()
	defer p.grow.Unlock()
	list := append([]*worker(nil), p.all()...)
	for len(list) < n {
		w := &worker{wake: make(chan struct{}, 1)}
		list = append(list, w)
		go p.work(w, len(list))
	}
	p.list.Store(&list)
}

// available returns how many goroutines an inference may use now.
func (p *pool) available() int {
	inferences := int(uint32(p.state.Load()))
	if inferences == 0 {
		return 1
	}
	return int(p.limit.Load()) - inferences + 1
}

// rouse wakes worker k if it is parked and there is use for it.
func (p *pool) rouse(k int) {
	list := p.all()
	if k < 1 || k > len(list) || k >= p.available() {
		return
	}
	if w := list[k-1]; w.parked.CompareAndSwap(true, false) {
		w.wake <- struct{}{}
	}
}

// work is the life of worker k.
func (p *pool) work(w *worker, k int) {
	var begins, run uint64
	for turns := 1; ; turns++ {
		job := p.job.Load()
		state := p.state.Load()  // after job, so that a worker does not go to work before it has woken others
		if state>>32 != begins { // as Begin wakes worker 1 only
			begins = state >> 32
			p.rouse(2 * k)
			p.rouse(2*k + 1)
			turns = 0
		}
		if job>>16 != run {
			run = job >> 16
			if participants := int(job & 0xffff); k < participants && w.claim(run) {
				w.err = share(p.ctx, p.task, k, participants, p.parts)
				p.pending.Add(-1)
			}
			turns = 0
			continue
		}
		if k < p.available() || uint32(state) == 0 && turns < linger {
			wait(turns)
			continue
		}
		w.parked.Store(true)
		if k < p.available() && w.parked.CompareAndSwap(true, false) {
			continue // an inference began before it could see that this worker is parked
		}
		<-w.wake
		turns = 0
	}
}

// wait is one turn of a waiting loop.
func wait(turns int) {
	if turns%yieldAfter == 0 {
		runtime.Gosched()
		yield()
	} else {
		pause()
	}
}

// claim takes the share of w in a Run for the calling goroutine and reports
// whether nobody else had. The Run does not end before a share that was claimed
// is done, so that what the claimer reads of it stands still.
func (w *worker) claim(run uint64) bool {
	last := w.claimed.Load()
	return last < run && w.claimed.CompareAndSwap(last, run)
}

func (p *pool) run(ctx context.Context, t Task, parts int) error {
	if parts <= 0 {
		return nil
	}
	list := p.all()
	participants := min(parts, p.available(), len(list)+1)
	if participants <= 1 || !p.busy.CompareAndSwap(false, true) {
		return share(ctx, t, 0, 1, parts)
	}
	list = list[:participants-1]
	p.ctx, p.task, p.parts = ctx, t, parts
	run := p.job.Load()>>16 + 1
	p.pending.Store(int32(len(list)))
	p.job.Store(run<<16 | uint64(participants))

	err := share(ctx, t, 0, participants, parts)
	for i, w := range list {
		if w.claim(run) {
			w.err = share(ctx, t, i+1, participants, parts)
			p.pending.Add(-1)
		}
	}
	for turns := 1; p.pending.Load() != 0; turns++ {
		wait(turns)
	}
	for _, w := range list {
		if err == nil {
			err = w.err
		}
		w.err = nil
	}
	p.ctx, p.task = nil, nil
	p.busy.Store(false)
	return err
}

// share does the k-th of n runs of parts, until ctx is done.
func share(ctx context.Context, t Task, k, n, parts int) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &PanicError{r, debug.Stack()}
		}
	}()
	each, more := parts/n, parts%n
	from := k*each + min(k, more)
	to := from + each
	if k < more {
		to++
	}
	for i := from; i < to && Done(ctx) == nil; i++ {
		t.Part(i, parts)
	}
	return nil
}
