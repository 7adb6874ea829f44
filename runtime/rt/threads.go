package rt

import (
	"context"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
)

// Task is work that can be split. Part(i, parts) does part i. [Run] calls it once for every i from 0
// to parts-1, in any order and on any goroutine, unless a part panics; [RunUntil] stops when a context
// is done. A part must not write what other parts read or write, and results must not depend on the
// number of parts.
type Task interface{ Part(i, parts int) }

// Threads sets the number of goroutines that may work on one inference, including the caller's, if
// n is above 0. It returns the previous setting. The default is GOMAXPROCS, and a larger setting has
// the same effect. A new setting affects inferences that begin later.
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

// Begin starts an inference. Until the matching [End] the worker pool spins while it waits for
// [Run]. A spinning worker starts in less than a microsecond; a parked worker needs many
// microseconds. A model without work that is worth splitting does not call Begin.
func Begin() { workers.begin() }

// End ends an inference that [Begin] started. Idle workers keep spinning for about a tenth of a
// millisecond, so that the next call finds them awake.
func End() { workers.end() }

// Run executes the parts of t. Between [Begin] and [End] it shares them with the worker pool. Each
// of n workers gets a share of adjacent parts, worker k always the k-th share, so that it finds its
// data in its caches. If a worker has not started when the caller has finished its own share, the
// caller takes the worker's share. Concurrent inferences divide the workers. The caller executes
// all parts if another Run holds the workers, if a part calls Run, or outside of Begin and End.
// Results do not depend on any of this.
//
// Run returns when all parts are done. If a part panics, the remaining parts of its share are
// skipped, and Run returns a [PanicError]. If parts of several shares panic, the error is of the
// first of these shares. Run does not allocate.
func Run(t Task, parts int) error { return RunUntil(context.Background(), t, parts) }

// RunUntil is like [Run], but starts no more parts after ctx is done. It does not report whether it
// skipped parts; see [EndIfDone].
func RunUntil(ctx context.Context, t Task, parts int) error { return workers.run(ctx, t, parts) }

// Parts returns the number of parts to split work into that takes ns nanoseconds on one core. It is
// 1 if splitting costs more than it saves, and at most the number of available goroutines.
func Parts(ns int64) int {
	const worth = 5000 // nanoseconds that each part should take
	return int(max(1, min(ns/worth, int64(workers.available()))))
}

const (
	maxThreads = 1 << 10
	yieldAfter = 1 << 11 // turns of a waiting loop, 20 to 100 µs, before other goroutines and processes are let in
	linger     = 1 << 11 // turns for which a worker waits for the next inference
)

// workers is the worker pool of the program.
var workers pool

// pool shares the parts of one task at a time among its workers. Worker 0 is the caller of Run; the
// others are goroutines that spin or are parked.
type pool struct {
	setting atomic.Int32 // as set by Threads, 0 for GOMAXPROCS
	limit   atomic.Int32 // threads for inferences, as of the last Begin
	_       [64]byte
	state   atomic.Uint64 // number of running inferences, and from bit 32 on the number of Begins
	_       [64]byte
	job     atomic.Uint64 // participants of the current Run, and from bit 16 on its sequence number
	_       [64]byte
	pending atomic.Int32 // unfinished shares of the current Run
	_       [64]byte
	busy    atomic.Bool // whether a Run is in progress; it owns the next three fields
	ctx     context.Context
	task    Task
	parts   int

	grow sync.Mutex
	list atomic.Pointer[[]*worker] // element k-1 is worker k
}

type worker struct {
	_       [64]byte
	claimed atomic.Uint64 // sequence number of the last Run whose share was claimed
	parked  atomic.Bool
	wake    chan struct{}
	err     error // error of its share of the current Run
	_       [64]byte
}

func (p *pool) begin() {
	limit := runtime.GOMAXPROCS(0)
	if set := int(p.setting.Load()); set > 0 {
		limit = min(limit, set)
	}
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
		p.rouse(int(p.limit.Load()) - inferences) // one more thread is available to the others
	}
}

func (p *pool) all() []*worker {
	if list := p.list.Load(); list != nil {
		return *list
	}
	return nil
}

// start grows the pool to n workers.
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

// available returns the number of goroutines that one inference may use now. It is below 1 if more
// inferences run than there are threads.
func (p *pool) available() int {
	inferences := int(uint32(p.state.Load()))
	if inferences == 0 {
		return 1
	}
	return int(p.limit.Load()) - inferences + 1
}

// rouse wakes worker k if it is parked and needed.
func (p *pool) rouse(k int) {
	list := p.all()
	if k < 1 || k > len(list) || k >= p.available() {
		return
	}
	if w := list[k-1]; w.parked.CompareAndSwap(true, false) {
		w.wake <- struct{}{}
	}
}

// work is the main loop of worker k.
func (p *pool) work(w *worker, k int) {
	var begins, run uint64
	for turns := 1; ; turns++ {
		job := p.job.Load()
		state := p.state.Load()  // after job, so that a worker wakes others before it goes to work
		if state>>32 != begins { // because Begin wakes only worker 1
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
			continue // an inference began before it could see that this worker parked
		}
		<-w.wake
		turns = 0
	}
}

// wait pauses a waiting loop briefly. turns counts its turns; every yieldAfter turns other
// goroutines and threads may run.
func wait(turns int) {
	if turns%yieldAfter == 0 {
		runtime.Gosched()
		yield()
	} else {
		pause()
	}
}

// claim takes w's share of a Run for the calling goroutine. It reports false if another goroutine
// has claimed it. A Run does not end before its claimed shares are done. So the fields that a
// claimer reads do not change.
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

// share executes share k of a task that is shared among n workers: a run of adjacent parts. It
// starts no more parts after ctx is done. A panic of a part becomes a [PanicError].
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
