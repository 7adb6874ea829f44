package vulkan

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/burngen/burngen/runtime/gpu"
)

const (
	// batchSize is the number of commands that a submission collects before it is submitted.
	batchSize = 64
	// maxInFlight is the largest number of unfinished submissions of a queue.
	maxInFlight = 32
	// stagingSize is the size in bytes of a queue's staging memory. All copies that have not ended
	// have at most this size together.
	stagingSize = 8 << 20
	// chunkSize is the largest number of bytes that one copy command copies between host and
	// device. Larger copies take several commands.
	chunkSize = stagingSize / 4
	// argumentsSize is the size in bytes of a queue's memory for the arguments of launches that
	// have not ended.
	argumentsSize = 256 << 10
)

// queue collects commands and submits them.
type queue struct {
	device   *device
	hardware *hardwareQueue
	// for the device, which may close the queue during a call
	mu     sync.Mutex
	closed bool
	// the first error that lost work; nothing runs after it
	failed error

	pool handle
	done timeline
	// has no memory until the first copy
	staging ring
	// has no memory until the first launch
	arguments ring
	// the submission that is being recorded, or nil
	open     *submission
	inFlight []*submission
	// free command buffers
	spare []uintptr
	clock clock
}

// submission is a command buffer or a graph that is submitted as a whole.
type submission struct {
	*commands // nil for a graph
	// value of the queue's timeline once the submission has ended
	number                    uint64
	stagingHead, argumentHead int64
	// called on the host once the submission has ended
	finish []func()
}

var errQueueClosed = errors.New("vulkan: the queue is closed")

func (d *device) Queue() (gpu.Queue, error) {
	q, err := adopt(d, func() (*queue, error) {
		n := d.nextQueue.Add(1)
		q := &queue{device: d, hardware: d.queues[int(n)%len(d.queues)]}
		var err error
		if q.pool, err = d.newCommandPool(); err == nil {
			if q.done, err = d.newTimeline(); err == nil {
				return q, nil
			}
			d.vk.DestroyCommandPool.call(d.handle, uintptr(q.pool), 0)
		}
		return nil, fmt.Errorf("vulkan: open a queue: %w", err)
	})
	if err != nil {
		return nil, err
	}
	return q, nil
}

func (q *queue) usable() error {
	if q.closed {
		return errQueueClosed
	}
	return q.failed
}

// lose stores and returns the error of an action that lost work. All later calls return it.
func (q *queue) lose(action string, err error) error {
	q.failed = fmt.Errorf("vulkan: %s: %w", action, err)
	return q.failed
}

func (q *queue) Upload(to gpu.Address, from []byte) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.usable(); err != nil {
		return err
	}
	at, err := q.device.find("upload", to, len(from))
	if err != nil {
		return err
	}
	for len(from) > 0 {
		n := min(len(from), chunkSize)
		offset, err := q.take(&q.staging, q.device.staging, stagingSize, n)
		if err != nil {
			return err
		}
		gpu.Copy(q.staging.bytes()[offset:], from[:n])
		q.open.copy(at, q.staging.place(offset), n)
		if err := q.flushFull(); err != nil {
			return err
		}
		at.offset += int64(n)
		from = from[n:]
	}
	return nil
}

func (q *queue) Download(to []byte, from gpu.Address) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.usable(); err != nil {
		return err
	}
	at, err := q.device.find("download", from, len(to))
	if err != nil {
		return err
	}
	for len(to) > 0 {
		n := min(len(to), chunkSize)
		offset, err := q.take(&q.staging, q.device.staging, stagingSize, n)
		if err != nil {
			return err
		}
		part, staged := to[:n], q.staging.bytes()[offset:]
		q.open.copy(q.staging.place(offset), at, n)
		q.open.reads = true
		q.open.finish = append(q.open.finish, func() { gpu.Copy(part, staged) })
		if err := q.flushFull(); err != nil {
			return err
		}
		at.offset += int64(n)
		to = to[n:]
	}
	return nil
}

func (q *queue) Copy(to, from gpu.Address, bytes int) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.usable(); err != nil {
		return err
	}
	target, source, err := q.device.findBoth(to, from, bytes)
	if err != nil || bytes == 0 {
		return err
	}
	if err := q.ensureOpen(); err != nil {
		return err
	}
	q.open.copy(target, source, bytes)
	return q.flushFull()
}

// findBoth returns the positions of the destination and the source of a copy on the device.
func (d *device) findBoth(to, from gpu.Address, n int) (target, source place, err error) {
	if n < 0 {
		return target, source, fmt.Errorf("vulkan: copy %d bytes", n)
	}
	if target, err = d.find("copy", to, n); err == nil {
		source, err = d.find("copy", from, n)
	}
	return target, source, err
}

// find returns the position in the device's memory of the n bytes at an address. It returns an
// error if they are not all in one allocation. If n is 0, any address is valid and the position is
// zero. action is the prefix of errors.
func (d *device) find(action string, at gpu.Address, n int) (place, error) {
	if n == 0 {
		return place{}, nil
	}
	p, err := d.memory.find(at, n)
	if err != nil {
		return p, fmt.Errorf("vulkan: %s %d bytes: %w", action, n, err)
	}
	return p, nil
}

func (q *queue) Launch(k gpu.Kernel, grid [3]int, args []uint64) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.usable(); err != nil {
		return err
	}
	kernel, err := q.device.launchable(k, grid, len(args))
	if err != nil || grid[0] == 0 || grid[1] == 0 || grid[2] == 0 {
		return err
	}
	offset, err := q.take(&q.arguments, q.device.arguments, argumentsSize, 8*len(args))
	if err != nil {
		return err
	}
	putArguments(q.arguments.bytes()[offset:], args)
	q.open.launch(kernel, grid, uint64(q.arguments.at())+uint64(offset))
	return q.flushFull()
}

// putArguments writes an argument block, 8 bytes per argument.
func putArguments(to []byte, args []uint64) {
	for i, a := range args {
		binary.LittleEndian.PutUint64(to[8*i:], a)
	}
}

// take allocates n bytes of ring r and returns their offset. On first use the ring gets its memory,
// `size` bytes of the heap `from`. If the ring is full, take submits the collected commands and
// waits until earlier submissions have freed n bytes of the ring. Afterwards there is a submission
// that collects commands.
func (q *queue) take(r *ring, from *heap, size int64, n int) (offset int64, err error) {
	if r.block == nil {
		if r.piece, err = from.alloc(size); err != nil {
			return 0, fmt.Errorf("vulkan: memory of a queue: %w", err)
		}
	}
	for {
		if offset, ok := r.take(n); ok {
			return offset, q.ensureOpen()
		}
		if err := q.flush(); err != nil {
			return 0, err
		}
		if err := q.retire(context.Background(), q.inFlight[0].number); err != nil {
			return 0, err
		}
	}
}

// ensureOpen opens a submission unless one is open.
func (q *queue) ensureOpen() (err error) {
	if q.open != nil {
		return nil
	}
	if err := q.makeRoom(); err != nil {
		return err
	}
	var buffer uintptr
	if n := len(q.spare); n > 0 {
		buffer, q.spare = q.spare[n-1], q.spare[:n-1]
	} else if buffer, err = q.device.newCommandBuffer(q.pool); err != nil {
		return q.lose("record", err)
	}
	c, err := q.device.begin(buffer, commandBufferOneTimeSubmit)
	if err != nil {
		return q.lose("record", err)
	}
	q.open = &submission{commands: c}
	return nil
}

func (q *queue) makeRoom() error {
	if len(q.inFlight) < maxInFlight {
		return nil
	}
	return q.retire(context.Background(), q.inFlight[0].number)
}

// flushFull submits the open submission if it has at least batchSize commands.
func (q *queue) flushFull() error {
	if q.open.count < batchSize {
		return nil
	}
	return q.flush()
}

func (q *queue) flush() error {
	s := q.open
	if s == nil {
		return nil
	}
	q.open = nil
	if err := s.end(); err != nil {
		return q.lose("record", err)
	}
	return q.submit(s, s.handle)
}

// submit submits the command buffer `buffer` as submission s. The queue's timeline and the given
// timelines grow by 1 when it has ended.
func (q *queue) submit(s *submission, buffer uintptr, timelines ...*timeline) error {
	q.device.cache.save(q.device)
	if err := q.device.submit(q.hardware, buffer, append(timelines, &q.done)...); err != nil {
		return q.lose("submit", err)
	}
	s.number, s.stagingHead, s.argumentHead = q.done.last, q.staging.head, q.arguments.head
	q.inFlight = append(q.inFlight, s)
	return nil
}

// retire waits until the submission with this number has ended. It then finishes this and all
// earlier submissions. If ctx is done first, it returns an error and does not finish any
// submission.
func (q *queue) retire(ctx context.Context, number uint64) error {
	if err := q.done.wait(ctx, number); err != nil {
		if errors.Is(err, gpu.ErrDeviceLost) {
			return q.lose("wait", err)
		}
		return fmt.Errorf("vulkan: wait: %w", err)
	}
	for len(q.inFlight) > 0 && q.inFlight[0].number <= number {
		s := q.inFlight[0]
		q.inFlight = q.inFlight[1:]
		for _, f := range s.finish {
			f()
		}
		q.staging.tail, q.arguments.tail = s.stagingHead, s.argumentHead
		if s.commands != nil {
			q.spare = append(q.spare, s.handle)
		}
	}
	return nil
}

func (q *queue) Wait(ctx context.Context) (err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if err := q.usable(); err != nil {
		return err
	}
	defer q.device.log.join(&err)
	if err := q.flush(); err != nil {
		return err
	}
	if len(q.inFlight) == 0 {
		return nil
	}
	if ctx == nil {
		ctx = context.Background()
	}
	return q.retire(ctx, q.done.last)
}

func (q *queue) Close() error {
	err := q.shut()
	q.device.forget(q)
	return err
}

func (q *queue) shut() (err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return nil
	}
	defer q.device.log.join(&err)
	if err = q.failed; err == nil {
		err = q.flush()
	}
	if len(q.inFlight) > 0 {
		if e := q.retire(context.Background(), q.done.last); err == nil {
			err = e
		}
	}
	d := q.device
	d.vk.DestroyCommandPool.call(d.handle, uintptr(q.pool), 0)
	q.done.close()
	q.clock.close(d)
	for _, p := range []struct {
		heap *heap
		piece
	}{{d.staging, q.staging.piece}, {d.arguments, q.arguments.piece}} {
		if p.block != nil {
			p.heap.free(p.at())
		}
	}
	q.closed = true
	return err
}
