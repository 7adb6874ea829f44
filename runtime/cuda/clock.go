package cuda

import (
	"context"
	"time"

	"github.com/burngen/burngen/runtime/cuda/internal/libcuda"
)

// clock holds the events with which a queue measures times. The resolution is about 0.5 µs (CUDA
// Driver API, Event Management).
type clock struct {
	// all created events; the first `stamps` are in use
	events []libcuda.Event
	stamps int // events in use
}

// Stamp implements [gpu.Timed].
func (q *queue) Stamp() error {
	if err := q.enter(); err != nil {
		return err
	}
	defer q.leave()
	if q.stamps == len(q.events) {
		var e libcuda.Event
		if r := q.device.api.EventCreate(&e, libcuda.EventDefault); r != libcuda.Success {
			return q.failed(r, "measuring time")
		}
		q.events = append(q.events, e)
	}
	if r := q.device.api.EventRecord(q.events[q.stamps], q.stream); r != libcuda.Success {
		return q.failed(r, "measuring time")
	}
	q.stamps++
	return nil
}

// Stamps implements [gpu.Timed].
func (q *queue) Stamps() ([]time.Duration, error) {
	if err := q.Wait(context.Background()); err != nil {
		return nil, err
	}
	if err := q.enter(); err != nil {
		return nil, err
	}
	defer q.leave()
	readings := make([]time.Duration, q.stamps)
	for i := 1; i < q.stamps; i++ {
		var ms float32
		if r := q.device.api.EventElapsedTime(&ms, q.events[i-1], q.events[i]); r != libcuda.Success {
			return nil, q.failed(r, "measuring time")
		}
		readings[i] = readings[i-1] + time.Duration(float64(ms)*1e6)
	}
	q.stamps = 0
	return readings, nil
}

func (c *clock) release(d *device) {
	for _, e := range c.events {
		d.api.EventDestroy(e)
	}
	*c = clock{}
}
