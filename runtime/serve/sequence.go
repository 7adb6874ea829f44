package serve

import (
	"net/http"
	"sync"
	"time"

	"github.com/burngen/burngen/runtime/rt/untyped"
)

// sequence is a session that keeps its states between the requests with one sequence id.
type sequence struct {
	id      string
	session *untyped.Session
	// a request runs; guarded by the lock of the queue
	busy bool
	used time.Time
	// number of requests that wait or run
	waiting int
	// its last request has arrived
	ended bool
}

// isBusy reports whether a request of the sequence runs. It returns false for nil.
func (s *sequence) isBusy() bool { return s != nil && s.busy }

func (s *sequence) begin() {
	if s != nil {
		s.busy = true
	}
}

// sequences holds the sequences of a model. A sequence ends with its last request, or when it has
// not been used for longer than live.
type sequences struct {
	limit int
	live  time.Duration
	open  func() (*untyped.Session, error)

	mu   sync.Mutex
	byID map[string]*sequence
	free []*untyped.Session
}

// get returns the sequence of a request. It adds the sequence if the request starts it. The caller
// must call release after the request.
func (s *sequences) get(id sequenceID) (*sequence, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	q := s.byID[id.id]
	switch {
	case q != nil && id.start && q.waiting > 0:
		return nil, badRequest("sequence %q has a request that runs; it cannot start again", id.id)
	case q != nil && id.start:
		q.session.Reset()
	case q == nil && !id.start:
		return nil, badRequest("sequence %q is not known: it has ended or expired, or its first request has no sequence_start", id.id)
	case q == nil:
		if len(s.byID) >= s.limit {
			s.expire(now)
		}
		if len(s.byID) >= s.limit {
			return nil, errorf(http.StatusTooManyRequests, "there are %d sequences already", s.limit)
		}
		session, err := s.session()
		if err != nil {
			return nil, err
		}
		q = &sequence{id: id.id, session: session}
		s.byID[id.id] = q
	case q.ended:
		return nil, badRequest("sequence %q has ended", id.id)
	}
	q.ended = id.end
	q.waiting++
	return q, nil
}

// session returns a session in its initial state.
func (s *sequences) session() (*untyped.Session, error) {
	if n := len(s.free); n > 0 {
		out := s.free[n-1]
		s.free = s.free[:n-1]
		out.Reset()
		return out, nil
	}
	return s.open()
}

// release ends a request of a sequence.
func (s *sequences) release(q *sequence) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q.waiting--
	q.used = time.Now()
	if q.ended && q.waiting == 0 {
		s.remove(q)
	}
}

// expire removes each sequence that has not been used for longer than s.live before now. It keeps
// a sequence if one of its requests waits or runs.
func (s *sequences) expire(now time.Time) {
	for _, q := range s.byID {
		if q.waiting == 0 && now.Sub(q.used) > s.live {
			s.remove(q)
		}
	}
}

// keptFree is the largest number of free sessions that are kept for new sequences. Others are left
// to the garbage collector.
const keptFree = 8

func (s *sequences) remove(q *sequence) {
	delete(s.byID, q.id)
	if len(s.free) < keptFree {
		s.free = append(s.free, q.session)
	}
}

func (s *sequences) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.byID)
}

// sweep removes expired sequences periodically until ended is closed.
func (s *sequences) sweep(ended <-chan struct{}) {
	ticker := time.NewTicker(max(s.live/4, time.Second))
	defer ticker.Stop()
	for {
		select {
		case <-ended:
			return
		case now := <-ticker.C:
			s.mu.Lock()
			s.expire(now)
			s.mu.Unlock()
		}
	}
}
