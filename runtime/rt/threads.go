package rt

import (
	"context"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// Task is work that can be split. Part(i, parts) does part i. [Run] calls it once for every i from 0
// to parts-1, in any order and on any goroutine, unless a part panics; [RunUntil] stops when a context
// is done. A part must not write what other parts read or write, and results must not depend on the
// number of parts.
type Task interface{ Part(i, parts int) }

// Threads returns the number of goroutines that may work on one inference, including the caller's. If n is above 0,
// it sets this number to n and returns the old one. The default is GOMAXPROCS; a larger number has the same effect as
// GOMAXPROCS. A new number affects inferences that begin later.
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

// Begin starts an inference. Until the matching [End] the worker pool spins while it waits for [Run]. A spinning
// worker starts in less than a microsecond; a parked worker needs many microseconds. A model whose work is too small
// to split does not call Begin.
func Begin() { workers.begin() }

// End ends an inference that [Begin] started. Idle workers keep spinning for about a tenth of a
// millisecond, so that the next call finds them awake.
func End() { workers.end() }

// Run executes the parts of t. Between [Begin] and [End], the workers of the pool execute parts too. Each worker
// starts with a range of adjacent parts. Worker k always has the k-th range, so that it finds its data in its caches.
// A worker that has finished its range takes parts from the end of other ranges. So if there are several parts for
// each worker, Run does not wait for a worker that has not started, and waits only briefly for a slow core.
// Concurrent inferences divide the workers. The caller executes all parts in three cases: another Run uses the
// workers, a part calls Run, or Run is called outside of Begin and End. Results do not depend on any of this.
//
// Run returns when all parts are done. If a part panics, Run returns a [PanicError], and may skip later parts. If
// several parts panic, the error is the panic of the part with the lowest index. Run does not allocate.
func Run(t Task, parts int) error { return RunUntil(context.Background(), t, parts) }

// RunUntil is like [Run], but starts no more parts after ctx is done. It does not report whether it
// skipped parts; see [EndIfDone].
func RunUntil(ctx context.Context, t Task, parts int) error { return workers.run(ctx, t, parts) }

// Sharing says how the workers of the pool spent their time. It counts only Runs whose parts several workers
// executed.
type Sharing struct {
	Runs    int           // number of Runs
	Workers int           // number of their workers, including the caller, of all Runs
	Span    time.Duration // from the calls of Run to their ends
	Busy    time.Duration // in which workers executed parts, of all workers
	Longest time.Duration // in which the busiest worker of each Run executed parts
}

// WatchThreads adds the times of later Runs to *s. It replaces the s of the previous call. A nil s ends the
// measurement. WatchThreads must not be called during a Run. The caller may read *s between Runs.
func WatchThreads(s *Sharing) { workers.watch.Store(s) }

// Parts returns the number of parts into which to split work that takes ns nanoseconds on one core. It is 1 if
// splitting costs more than it saves. It is at most the number of available goroutines.
func Parts(ns int64) int {
	const worth = 5000 // nanoseconds that each part should take
	return int(max(1, min(ns/worth, int64(workers.available()))))
}

const (
	maxThreads = 1 << 10
	yieldAfter = 1 << 11 // turns of a waiting loop, 20 to 100 µs, before other goroutines and processes are let in
	linger     = 1 << 11 // turns for which a worker waits for the next inference
)

var workers pool

// pool shares the parts of one task at a time among its workers. Worker 0 is the caller of Run; the
// others are goroutines that spin or are parked.
type pool struct {
	setting atomic.Int32 // as set by Threads, 0 for GOMAXPROCS
	limit   atomic.Int32 // threads for inferences, as of the last Begin
	_       [64]byte
	state   atomic.Uint64 // number of running inferences, and from bit 32 on the number of Begins
	_       [64]byte
	job     atomic.Uint64 // the current or last Run, a [job]
	_       [64]byte
	pending atomic.Int32 // unfinished units of the current Run
	_       [64]byte
	busy    atomic.Bool // whether a Run is in progress; it owns the next fields
	ctx     context.Context
	task    Task
	parts   int
	caller  worker // worker 0

	grow sync.Mutex
	list atomic.Pointer[[]*worker] // element k-1 is worker k

	watch atomic.Pointer[Sharing] // see WatchThreads
}

type worker struct {
	_    [64]byte
	left atomic.Uint64 // units of its range that nobody has taken yet, see [worker.take]
	_    [64]byte
	// These fields describe what the worker has done in the current Run.
	err   error         // of the first of its parts that panicked
	errAt int           // index of this part
	took  time.Duration // while the pool is watched

	parked atomic.Bool
	wake   chan struct{}
	_      [64]byte
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

// start grows the pool to n goroutines.
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

// available returns the number of goroutines that one inference may use now. If more inferences run than [Threads]
// allows, the number is below 1.
func (p *pool) available() int {
	inferences := int(uint32(p.state.Load()))
	if inferences == 0 {
		return 1
	}
	return int(p.limit.Load()) - inferences + 1
}

// rouse wakes worker k if it is parked and k is below the number of available goroutines.
func (p *pool) rouse(k int) {
	list := p.all()
	if k < 1 || k > len(list) || k >= p.available() {
		return
	}
	if w := list[k-1]; w.parked.CompareAndSwap(true, false) {
		w.wake <- struct{}{}
	}
}

func (p *pool) work(w *worker, k int) {
	var begins uint64
	var run uint32
	for turns := 1; ; turns++ {
		job := job(p.job.Load())
		state := p.state.Load()  // after job, so that a worker wakes others before it goes to work
		if state>>32 != begins { // because Begin wakes only worker 1
			begins = state >> 32
			p.rouse(2 * k)
			p.rouse(2*k + 1)
			turns = 0
		}
		if job.run() != run {
			if run = job.run(); k < job.workers() {
				p.serve(w, k, job)
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

// wait pauses a waiting loop briefly. turns is the number of turns that the loop has made. Every yieldAfter turns,
// wait lets other goroutines and threads run.
func wait(turns int) {
	if turns%yieldAfter == 0 {
		runtime.Gosched()
		yield()
	} else {
		pause()
	}
}

// job describes a Run. It packs three numbers: the number of the Run in 32 bits, the number of its workers in 16
// bits, and the number of its units in 16 bits. A unit is a range of adjacent parts that one worker takes at once. It
// is a single part unless there are more than maxUnits parts.
type job uint64

const maxUnits = 1<<16 - 1

func newJob(run uint32, workers, units int) job {
	return job(run)<<32 | job(workers)<<16 | job(units)
}

func (j job) run() uint32  { return uint32(j >> 32) }
func (j job) workers() int { return int(uint16(j >> 16)) }
func (j job) units() int   { return int(uint16(j)) }

// ahead returns the range of units with which worker k starts. The range is packed as in worker.left: the number of
// the Run in 32 bits, the first unit in 16 bits, and the exclusive end in 16 bits. The range is not empty, because
// there are at least as many units as workers.
func (j job) ahead(k int) uint64 {
	n := j.workers()
	each, more := j.units()/n, j.units()%n
	from := k*each + min(k, more)
	to := from + each
	if k < more {
		to++
	}
	return uint64(j.run())<<32 | uint64(from)<<16 | uint64(to)
}

// take takes a unit from the range of w, which is worker k of a Run: the first unit if `own` is true, else the last.
// ok is false if no unit is left. The first call of take for w in a Run sets the range to its initial units.
//
// A Run ends only when all its units are done. So a goroutine that has taken a unit may read the fields of the Run
// until it has reported the unit as done. A goroutine that calls take after the end of the Run gets no unit, because
// all ranges are empty or belong to a later Run.
func (w *worker) take(j job, k int, own bool) (unit int, ok bool) {
	for {
		old := w.left.Load()
		left := old
		if number := uint32(old >> 32); number != j.run() {
			if int32(number-j.run()) > 0 {
				return 0, false
			}
			left = j.ahead(k)
		}
		from, to := int(uint16(left>>16)), int(uint16(left))
		if from == to {
			return 0, false
		}
		rest := left + 1<<16
		if unit = from; !own {
			unit, rest = to-1, left-1
		}
		if w.left.CompareAndSwap(old, rest) {
			return unit, true
		}
	}
}

// serve executes units of a Run as worker w of the Run, which has the number k. It first takes units of its own
// range, then of the ranges of the other workers: k+1, k+2, …, and after the last worker from worker 0 on.
func (p *pool) serve(w *worker, k int, j job) {
	var begin time.Time
	watched := p.watch.Load() != nil
	done, n := 0, j.workers()
	for i := range n {
		if i > 0 && p.pending.Load() == int32(done) {
			break // nobody else has work
		}
		at, owner := (k+i)%n, &p.caller
		if at > 0 {
			owner = (*p.list.Load())[at-1]
		}
		for {
			unit, ok := owner.take(j, at, i == 0)
			if !ok {
				break
			}
			if done++; done == 1 && watched {
				begin = time.Now()
			}
			p.perform(w, unit, j.units())
		}
	}
	if done == 0 {
		return
	}
	if watched {
		w.took = time.Since(begin)
	}
	p.pending.Add(int32(-done))
}

// perform executes unit `unit` of the current Run, which has `units` units. If a part panics, perform stores the
// panic as an error in w, unless w already has the error of a lower part.
func (p *pool) perform(w *worker, unit, units int) {
	from, to := unit, unit+1
	if units < p.parts {
		from, to = int(int64(p.parts)*int64(unit)/int64(units)), int(int64(p.parts)*int64(unit+1)/int64(units))
	}
	if err := execute(p.ctx, p.task, from, to, p.parts); err != nil && (w.err == nil || from < w.errAt) {
		w.err, w.errAt = err, from
	}
}

func (p *pool) run(ctx context.Context, t Task, parts int) error {
	if parts <= 0 {
		return nil
	}
	list := p.all()
	participants := min(parts, p.available(), len(list)+1)
	if participants <= 1 || !p.busy.CompareAndSwap(false, true) {
		return execute(ctx, t, 0, parts, parts)
	}
	var begin time.Time
	watch := p.watch.Load()
	if watch != nil {
		begin = time.Now()
	}
	p.ctx, p.task, p.parts = ctx, t, parts
	units := min(parts, maxUnits)
	p.pending.Store(int32(units))
	j := newJob(job(p.job.Load()).run()+1, participants, units)
	p.job.Store(uint64(j))
	p.serve(&p.caller, 0, j)
	for turns := 1; p.pending.Load() != 0; turns++ {
		wait(turns)
	}
	err := p.first(list[:participants-1])
	if watch != nil {
		watch.add(time.Since(begin), &p.caller, list[:participants-1])
	}
	p.ctx, p.task = nil, nil
	p.busy.Store(false)
	return err
}

// first returns the error of the lowest part that panicked in a Run. The workers of the Run are the caller and the
// elements of list. first clears the errors of these workers.
func (p *pool) first(list []*worker) error {
	err, at := p.caller.err, p.caller.errAt
	p.caller.err = nil
	for _, w := range list {
		if w.err != nil && (err == nil || w.errAt < at) {
			err, at = w.err, w.errAt
		}
		w.err = nil
	}
	return err
}

// add adds a Run that took the time span. caller and list are its workers.
func (s *Sharing) add(span time.Duration, caller *worker, list []*worker) {
	longest := caller.took
	s.Busy += caller.took
	caller.took = 0
	for _, w := range list {
		s.Busy += w.took
		longest = max(longest, w.took)
		w.took = 0
	}
	s.Runs++
	s.Workers += 1 + len(list)
	s.Span += span
	s.Longest += longest
}

// execute executes parts [from, to) of a task. It stops when ctx is done. It returns the panic of a part as a
// [PanicError].
func execute(ctx context.Context, t Task, from, to, parts int) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &PanicError{r, debug.Stack()}
		}
	}()
	for i := from; i < to && Done(ctx) == nil; i++ {
		t.Part(i, parts)
	}
	return nil
}
