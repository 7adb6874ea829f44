package gpu

import "slices"

// maxRecordings is the largest number of recordings that a run keeps. Beyond this number, the run
// drops the least recently used one.
const maxRecordings = 8

// recording is the queued work of a call. Later calls with the same key queue it again.
type recording struct {
	callKey
	// the queued steps; nil once there is a graph
	steps []queued
	// the steps as a graph; nil until the first replay
	graph Graph
	// returns the errors of faults, see faults.failed
	failed []func(int64) error
}

// callKey identifies the work of a call: calls with equal keys queue the same work.
type callKey struct {
	schedule string
	// the extents; then, for each argument and result, its size in bytes and, if it is a tensor,
	// its device address
	sizes            []int
	weights, changes any
}

func (k *callKey) equal(o *callKey) bool {
	return k.schedule == o.schedule && k.weights == o.weights && k.changes == o.changes && slices.Equal(k.sizes, o.sizes)
}

type queued struct {
	kernel Kernel // nil for a copy
	grid   [3]int
	words  []uint64

	to, from Address
	bytes    int
}

func (s *queued) put(q Queue) error {
	if s.kernel == nil {
		return q.Copy(s.to, s.from, s.bytes)
	}
	return q.Launch(s.kernel, s.grid, s.words)
}

// Replays reports whether the caller must skip the schedule, the steps of the call. It returns true
// in two cases:
//
//   - The call has failed.
//   - A recording of an equal call exists: one with the same schedule, extents and sizes of
//     arguments, and with the same tensors and weights. Replays has then queued the recorded work.
//
// Otherwise it returns false and starts to record this call, unless a [Watch] measures each launch.
// A schedule may call Replays only if it has no steps on the host, and if its arguments determine
// all kernels that it launches.
func (r *Run) Replays(schedule string, extents ...int) bool {
	if r.err != nil {
		return true
	}
	if w := r.program.watch; w != nil && w.isOn(Launched) {
		return false
	}
	r.key.schedule = schedule
	r.key.sizes = append(r.key.sizes, extents...)
	i := slices.IndexFunc(r.recordings, func(c *recording) bool { return c.equal(&r.key) })
	if i < 0 {
		r.log = &recording{callKey: r.key}
		r.log.sizes = slices.Clone(r.key.sizes)
		return false
	}
	c := r.recordings[i]
	copy(r.recordings[1:], r.recordings[:i])
	r.recordings[0] = c
	r.faults.failed = append(r.faults.failed[:0], c.failed...)
	r.err = r.replay(c)
	return true
}

// put queues a step, and records it if the call is recorded.
func (r *Run) put(s *queued) error {
	if err := s.put(r.queue); err != nil {
		return err
	}
	if r.log != nil {
		same := *s
		same.words = slices.Clone(s.words)
		r.log.steps = append(r.log.steps, same)
	}
	return nil
}

// keep adds the recording of a successful call. If there are too many recordings, it drops the
// least recently used one. It ignores nil.
func (h *held) keep(c *recording) {
	if c == nil {
		return
	}
	if len(h.recordings) == maxRecordings {
		h.recordings[maxRecordings-1].close()
		h.recordings = h.recordings[:maxRecordings-1]
	}
	h.recordings = slices.Insert(h.recordings, 0, c)
}

// forget closes all recordings. It must be called before memory that they use is freed.
func (h *held) forget() {
	for _, c := range h.recordings {
		c.close()
	}
	h.recordings = nil
}

func (c *recording) close() {
	if c.graph != nil {
		c.graph.Close()
	}
}
