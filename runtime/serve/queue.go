package serve

import (
	"slices"
	"sync"
	"time"
)

// queue holds the requests that wait for a session of a model. Each client has a line of requests,
// and lines take turns.
type queue struct {
	// largest number of requests that wait
	limit int

	mu   sync.Mutex
	more sync.Cond
	// lines that are not empty, in the order of their turns
	lines  []*line
	n      int
	closed bool
}

// line holds the waiting requests of one client, the oldest first.
type line struct {
	client string
	jobs   []*job
}

func newQueue(limit int) *queue {
	q := &queue{limit: limit}
	q.more.L = &q.mu
	return q
}

// push adds request j to the queue. If the queue is full, a request ends with errFull: the last one
// of the longest line, which may be j. push returns false if the queue is closed.
func (q *queue) push(j *job) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	l := q.line(j.client)
	l.jobs = append(l.jobs, j)
	j.queued = time.Now()
	q.n++
	if q.n > q.limit {
		longest := l
		for _, other := range q.lines {
			if len(other.jobs) > len(longest.jobs) {
				longest = other
			}
		}
		last := longest.jobs[len(longest.jobs)-1]
		q.drop(longest, len(longest.jobs)-1)
		last.end(nil, errFull)
	}
	q.more.Broadcast()
	return true
}

// line returns the line of a client. It adds an empty line if the client does not have a line.
func (q *queue) line(client string) *line {
	for _, l := range q.lines {
		if l.client == client {
			return l
		}
	}
	l := &line{client: client}
	q.lines = append(q.lines, l)
	return l
}

// drop removes request i from a line, and the line from the queue if it becomes empty.
func (q *queue) drop(l *line, i int) {
	l.jobs = slices.Delete(l.jobs, i, i+1)
	q.n--
	if len(l.jobs) == 0 {
		q.lines = slices.DeleteFunc(q.lines, func(other *line) bool { return other == l })
	}
}

// remove removes a request. It returns false if the request does not wait any more.
func (q *queue) remove(j *job) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, l := range q.lines {
		if i := slices.Index(l.jobs, j); i >= 0 {
			q.drop(l, i)
			return true
		}
	}
	return false
}

func (q *queue) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.n
}

// close makes the queue refuse new requests. Requests that wait can still be taken.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.more.Broadcast()
}

type reason string

const (
	full  reason = "full"  // it is as large as allowed
	delay reason = "delay" // its oldest request has waited long enough
	idle  reason = "idle"  // a session was free, and no request may wait
)

// take waits for the next batch. It returns the requests of the batch, and the reason for which the
// batch does not wait for more requests. It returns nil once the queue is closed and empty. A batch
// has at most `most` items, except if a single request has more. If wait > 0, a batch that is not
// full is held back until its oldest request has waited that long.
func (q *queue) take(most int, wait time.Duration) ([]*job, reason) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		batch, places, isFull := q.next(most)
		if len(batch) == 0 {
			if q.closed && q.n == 0 {
				return nil, ""
			}
			q.more.Wait()
			continue
		}
		why := idle
		if isFull {
			why = full
		} else if wait > 0 && batch[0].canJoin() && !q.closed {
			oldest := slices.MinFunc(batch, func(a, b *job) int { return a.queued.Compare(b.queued) }).queued
			if left := wait - time.Since(oldest); left > 0 {
				timer := time.AfterFunc(left, q.more.Broadcast)
				q.more.Wait()
				timer.Stop()
				continue
			}
			why = delay
		}
		q.takeAll(batch, places)
		return batch, why
	}
}

// next returns the requests of the next batch, and the line of each request. It does not remove
// them. isFull is true if the next request would make the batch exceed `most` items.
func (q *queue) next(most int) (batch []*job, places []*line, isFull bool) {
	items := 0
	next := make([]int, len(q.lines)) // the first request of a line that has not been looked at
	for took := true; took; {
		took = false
		for i, l := range q.lines {
			for next[i] < len(l.jobs) {
				j := l.jobs[next[i]]
				next[i]++
				switch {
				case j.sequence.isBusy():
					continue
				case len(batch) == 0:
				case !batch[0].joins(j):
					continue
				case items+j.items > most:
					return batch, places, true
				}
				batch, places = append(batch, j), append(places, l)
				items += j.items
				if !j.canJoin() || items >= most {
					return batch, places, j.canJoin() && most > 1
				}
				took = true
				break
			}
		}
	}
	return batch, places, false
}

// takeAll removes the requests of a batch. places has the line of each request; these lines move to
// the end.
func (q *queue) takeAll(batch []*job, places []*line) {
	for i, j := range batch {
		l := places[i]
		q.drop(l, slices.Index(l.jobs, j))
		if at := slices.Index(q.lines, l); at >= 0 {
			q.lines = append(slices.Delete(q.lines, at, at+1), l)
		}
		j.sequence.begin()
	}
}

func (q *queue) release(s *sequence) {
	q.mu.Lock()
	defer q.mu.Unlock()
	s.busy = false
	q.more.Broadcast()
}
