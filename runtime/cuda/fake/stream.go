package fake

import (
	"sync"
	"time"

	"github.com/burngen/burngen/runtime/cuda/internal/libcuda"
)

// stream runs its work in order, on a goroutine. The goroutine ends when there is no more work.
type stream struct {
	card    *card
	mu      sync.Mutex
	idle    *sync.Cond
	work    []func()
	running bool
	// total time of the finished work; only work reads and writes it
	clock time.Duration
}

func newStream(c *card) *stream {
	s := &stream{card: c}
	s.idle = sync.NewCond(&s.mu)
	return s
}

func (s *stream) push(work func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.work = append(s.work, work)
	if !s.running {
		s.running = true
		go s.run()
	}
}

func (s *stream) run() {
	for {
		s.mu.Lock()
		if len(s.work) == 0 {
			s.running = false
			s.idle.Broadcast()
			s.mu.Unlock()
			return
		}
		work := s.work[0]
		s.work = s.work[1:]
		s.mu.Unlock()
		work()
	}
}

func (s *stream) wait() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.running {
		s.idle.Wait()
	}
}

func (s *stream) isRunning() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running
}

// action is a copy or a kernel. It returns the time that it takes by the stream's clock.
type action func() (time.Duration, error)

// start adds an action to the stream. If the context is lost before the action's turn comes, the
// action is skipped. If the action fails, the context becomes lost.
func (s *stream) start(do action) {
	g := s.card.gpu
	s.push(func() {
		g.gate.RLock()
		defer g.gate.RUnlock()
		if s.card.isLost() {
			return
		}
		took, err := do()
		s.clock += took
		if err != nil {
			s.card.lose(err)
		}
	})
}

// event is a CUevent. It occurs when the stream has finished all work that came before the last
// record of the event.
type event struct {
	card *card
	// it records the time
	timed bool
	// nil until it is recorded
	last *record
}

type record struct {
	// closed when the event occurs
	over chan struct{}
	// the stream's clock at that time
	at time.Duration
}

func (g *GPU) streamCreate(out *libcuda.Stream, _ uint32) libcuda.Result {
	g.mu.Lock()
	defer g.mu.Unlock()
	c, r := g.here()
	if r == libcuda.Success {
		*out = libcuda.Stream(g.handle())
		g.streams[*out] = newStream(c)
	}
	return r
}

// stream returns the stream of a handle. The result is not Success if there is no such stream. The
// caller must not hold g.mu.
func (g *GPU) stream(handle libcuda.Stream) (*stream, libcuda.Result) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.streamLocked(handle)
}

func (g *GPU) streamLocked(handle libcuda.Stream) (*stream, libcuda.Result) {
	if _, r := g.here(); r != libcuda.Success {
		return nil, r
	}
	s := g.streams[handle]
	if s == nil {
		return nil, libcuda.InvalidHandle
	}
	return s, libcuda.Success
}

// streamDestroy removes a stream. It does not wait for the stream's work, which goes on.
func (g *GPU) streamDestroy(handle libcuda.Stream) libcuda.Result {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, r := g.streamLocked(handle)
	if r == libcuda.Success {
		delete(g.streams, handle)
	}
	return r
}

func (g *GPU) streamQuery(handle libcuda.Stream) libcuda.Result {
	s, r := g.stream(handle)
	if r != libcuda.Success {
		return r
	}
	if s.isRunning() {
		return libcuda.NotReady
	}
	return g.state(s.card)
}

func (g *GPU) streamSynchronize(handle libcuda.Stream) libcuda.Result {
	s, r := g.stream(handle)
	if r != libcuda.Success {
		return r
	}
	s.wait()
	return g.state(s.card)
}

// state returns Success, or the failure that lost the context.
func (g *GPU) state(c *card) libcuda.Result {
	g.mu.Lock()
	defer g.mu.Unlock()
	return c.lost
}

func (g *GPU) eventCreate(out *libcuda.Event, flags uint32) libcuda.Result {
	g.mu.Lock()
	defer g.mu.Unlock()
	c, r := g.here()
	if r == libcuda.Success {
		*out = libcuda.Event(g.handle())
		g.events[*out] = &event{card: c, timed: flags&libcuda.EventDisableTiming == 0}
	}
	return r
}

func (g *GPU) eventDestroy(handle libcuda.Event) libcuda.Result {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, r := g.here(); r != libcuda.Success {
		return r
	}
	if g.events[handle] == nil {
		return libcuda.InvalidHandle
	}
	delete(g.events, handle)
	return libcuda.Success
}

func (g *GPU) eventRecord(handle libcuda.Event, on libcuda.Stream) libcuda.Result {
	g.mu.Lock()
	defer g.mu.Unlock()
	s, r := g.streamLocked(on)
	if r != libcuda.Success {
		return r
	}
	e := g.events[handle]
	if e == nil {
		return libcuda.InvalidHandle
	}
	last := &record{over: make(chan struct{})}
	e.last = last
	s.push(func() {
		last.at = s.clock
		close(last.over)
	})
	return libcuda.Success
}

func (g *GPU) eventSynchronize(handle libcuda.Event) libcuda.Result {
	g.mu.Lock()
	if _, r := g.here(); r != libcuda.Success {
		g.mu.Unlock()
		return r
	}
	e := g.events[handle]
	if e == nil {
		g.mu.Unlock()
		return libcuda.InvalidHandle
	}
	last := e.last
	g.mu.Unlock()
	if last != nil {
		<-last.over
	}
	return g.state(e.card)
}

func (g *GPU) eventElapsedTime(ms *float32, from, to libcuda.Event) libcuda.Result {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, r := g.here(); r != libcuda.Success {
		return r
	}
	var at [2]time.Duration
	for i, handle := range []libcuda.Event{from, to} {
		e := g.events[handle]
		if e == nil || !e.timed || e.last == nil {
			return libcuda.InvalidHandle
		}
		select {
		case <-e.last.over:
			at[i] = e.last.at
		default:
			return libcuda.NotReady
		}
	}
	*ms = float32(float64(at[1]-at[0]) / 1e6)
	return libcuda.Success
}

func (g *GPU) memcpyHtoDAsync(to libcuda.Address, from *byte, n uintptr, on libcuda.Stream) libcuda.Result {
	return g.memcpyAsync(to, from, n, true, on)
}

func (g *GPU) memcpyDtoHAsync(to *byte, from libcuda.Address, n uintptr, on libcuda.Stream) libcuda.Result {
	return g.memcpyAsync(from, to, n, false, on)
}

func (g *GPU) memcpyDtoDAsync(to, from libcuda.Address, n uintptr, on libcuda.Stream) libcuda.Result {
	g.mu.Lock()
	defer g.mu.Unlock()
	s, r := g.streamLocked(on)
	if r != libcuda.Success {
		return r
	}
	do, err := s.card.moveAction(to, from, n)
	if err != nil {
		return libcuda.InvalidValue
	}
	s.start(do)
	return libcuda.Success
}

func (g *GPU) memcpyAsync(device libcuda.Address, host *byte, n uintptr, upload bool, on libcuda.Stream) libcuda.Result {
	g.mu.Lock()
	defer g.mu.Unlock()
	s, r := g.streamLocked(on)
	if r != libcuda.Success {
		return r
	}
	do, err := s.card.copyAction(device, host, n, upload)
	if err != nil {
		return libcuda.InvalidValue
	}
	s.start(do)
	return libcuda.Success
}

// moveAction returns an action that copies n bytes from one address on the card to another. It
// returns an error if one of them is not allocated; the action checks this again when it runs. The
// caller holds g.mu.
func (c *card) moveAction(to, from libcuda.Address, n uintptr) (action, error) {
	return c.between(func() (target, source []byte, err error) {
		if target, err = c.at(uint64(to), int(n)); err == nil {
			source, err = c.at(uint64(from), int(n))
		}
		return target, source, err
	})
}

// copyAction returns an action that copies n bytes between pinned memory and the card: to the card
// if upload is true, and else from the card. It returns an error if one of them is not allocated;
// the action checks this again when it runs. The caller holds g.mu.
func (c *card) copyAction(device libcuda.Address, host *byte, n uintptr, upload bool) (action, error) {
	return c.between(func() (target, source []byte, err error) {
		if target, err = c.at(uint64(device), int(n)); err == nil {
			source, err = c.gpu.hostAt(host, n)
		}
		if !upload {
			target, source = source, target
		}
		return target, source, err
	})
}

// between returns an action that copies `source` to `target`, which are the results of `ends`. It
// calls `ends` immediately to check for errors, and the action calls `ends` again when it runs. The
// caller holds c.gpu.mu.
func (c *card) between(ends func() (target, source []byte, err error)) (action, error) {
	if _, _, err := ends(); err != nil {
		return nil, err
	}
	return func() (time.Duration, error) {
		c.gpu.mu.Lock()
		target, source, err := ends()
		c.gpu.mu.Unlock()
		if err == nil {
			copy(target, source)
		}
		return stepTime + time.Duration(len(target)/bytesPerNanosecond), err
	}, nil
}

// These are the durations of work. Each kernel and each copy takes stepTime. A copy takes 1 ns more
// for every bytesPerNanosecond bytes.
const (
	stepTime           = time.Microsecond
	bytesPerNanosecond = 16
)
