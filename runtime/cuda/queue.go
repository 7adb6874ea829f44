package cuda

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/burngen/burngen/runtime/cuda/internal/libcuda"
	"github.com/burngen/burngen/runtime/gpu"
)

// queue is a [gpu.Queue]. It has a stream, and pinned memory for its copies.
type queue struct {
	device *device
	stream libcuda.Stream
	// held by each call; one goroutine uses the queue, but others close its graphs and modules
	mu     sync.Mutex
	closed bool
	staging
	clock
	fills []fill
	// of the current launch
	args []uint64
	// point to the elements of args
	params []unsafe.Pointer
	// kernels launched since Wait last returned nil
	started names
}

// fill is a copy by the host between pinned memory and memory of the caller. For a download, the
// host copies after the device has written the pinned memory. For an upload in a graph, the host
// copies when the graph is replayed.
type fill struct {
	to, from []byte
	// the graph that owns the pinned memory `from`, or nil
	graph *graph
}

func (d *device) Queue() (gpu.Queue, error) {
	if err := d.enter(); err != nil {
		return nil, err
	}
	defer d.leave()
	q := &queue{device: d}
	if r := d.api.StreamCreate(&q.stream, libcuda.StreamNonBlocking); r != libcuda.Success {
		return nil, d.failed(r, "opening a queue")
	}
	keep(d, d.queues, q)
	return q, nil
}

// enter begins a call of the queue. leave ends the call. See [device.enter].
func (q *queue) enter() error {
	if err := q.device.enter(); err != nil {
		return err
	}
	q.mu.Lock()
	if q.closed {
		q.leave()
		return errQueueClosed
	}
	return nil
}

func (q *queue) leave() {
	q.mu.Unlock()
	q.device.leave()
}

// failed returns the error for result r; see [device.failed]. If the device is lost, the error
// names the kernels that were launched, because one of them is probably the cause.
func (q *queue) failed(r libcuda.Result, format string, args ...any) error {
	what := fmt.Sprintf(format, args...)
	if r.IsSticky() {
		what = q.started.String()
	}
	return q.device.failed(r, "%s", what)
}

func (q *queue) Upload(to gpu.Address, from []byte) error {
	if err := checkAddress(to, len(from)); err != nil {
		return err
	}
	if err := q.enter(); err != nil {
		return err
	}
	defer q.leave()
	for chunk := range slices.Chunk(from, q.device.driver.slot) {
		staged, err := q.reserve(len(chunk))
		if err != nil {
			return err
		}
		if err := q.device.copy(staged, chunk); err != nil {
			return err
		}
		if r := q.device.api.MemcpyHtoDAsync(libcuda.Address(to), &staged[0], uintptr(len(chunk)), q.stream); r != libcuda.Success {
			return q.failed(r, "uploading %d bytes to %#x", len(chunk), to)
		}
		to += gpu.Address(len(chunk))
	}
	return nil
}

func (q *queue) Download(to []byte, from gpu.Address) error {
	if err := checkAddress(from, len(to)); err != nil {
		return err
	}
	if err := q.enter(); err != nil {
		return err
	}
	defer q.leave()
	for chunk := range slices.Chunk(to, q.device.driver.slot) {
		staged, err := q.reserve(len(chunk))
		if err != nil {
			return err
		}
		if r := q.device.api.MemcpyDtoHAsync(&staged[0], libcuda.Address(from), uintptr(len(chunk)), q.stream); r != libcuda.Success {
			return q.failed(r, "downloading %d bytes from %#x", len(chunk), from)
		}
		q.fills = append(q.fills, fill{to: chunk, from: staged})
		from += gpu.Address(len(chunk))
	}
	return nil
}

func (q *queue) Copy(to, from gpu.Address, bytes int) error {
	if err := checkCopy(to, from, bytes); err != nil || bytes == 0 {
		return err
	}
	if err := q.enter(); err != nil {
		return err
	}
	defer q.leave()
	if r := q.device.api.MemcpyDtoDAsync(libcuda.Address(to), libcuda.Address(from), uintptr(bytes), q.stream); r != libcuda.Success {
		return q.failed(r, "copying %d bytes from %#x to %#x", bytes, from, to)
	}
	return nil
}

// checkCopy returns an error if bytes is negative. It also returns an error if an address is 0,
// unless bytes is 0.
func checkCopy(to, from gpu.Address, bytes int) error {
	if bytes < 0 {
		return fmt.Errorf("cuda: copying %d bytes", bytes)
	}
	return cmp.Or(checkAddress(to, bytes), checkAddress(from, bytes))
}

// checkAddress returns an error if the address is 0, unless bytes is 0. The driver might treat
// address 0 as host memory.
func checkAddress(a gpu.Address, bytes int) error {
	if a == 0 && bytes > 0 {
		return fmt.Errorf("cuda: copying %d bytes: the address is 0", bytes)
	}
	return nil
}

// checkLaunch returns k as a kernel of the device, or nil if the grid is empty. It returns an error
// if the launch is invalid.
func (d *device) checkLaunch(k gpu.Kernel, grid [3]int, args []uint64) (*kernel, error) {
	launched, ok := k.(*kernel)
	switch {
	case !ok || launched == nil:
		return nil, fmt.Errorf("cuda: %T is not a kernel of this driver", k)
	case launched.module.device != d:
		return nil, fmt.Errorf("cuda: kernel %s is of another device", launched.Name)
	case launched.module.closed.Load():
		return nil, fmt.Errorf("kernel %s: %w", launched.Name, errModuleClosed)
	case len(args) != launched.Args:
		return nil, fmt.Errorf("cuda: kernel %s: %d arguments, want %d", launched.Name, len(args), launched.Args)
	case slices.Contains(grid[:], 0):
		return nil, nil
	}
	for i, limit := range [3]int{math.MaxInt32, math.MaxUint16, math.MaxUint16} {
		if grid[i] < 0 || grid[i] > limit {
			return nil, fmt.Errorf("cuda: kernel %s: a grid of %v blocks, dimension %d can be %d at most", launched.Name, grid, i, limit)
		}
	}
	return launched, nil
}

func (q *queue) Launch(k gpu.Kernel, grid [3]int, args []uint64) error {
	if err := q.enter(); err != nil {
		return err
	}
	defer q.leave()
	launched, err := q.device.checkLaunch(k, grid, args)
	if launched == nil {
		return err
	}
	if len(q.args) < len(args) {
		q.args, q.params = make([]uint64, len(args)), make([]unsafe.Pointer, len(args))
	}
	copy(q.args, args)
	if err := launched.setParams(q.params, q.args[:len(args)]); err != nil {
		return err
	}
	q.started.add(launched.Name)
	x, y, z := dimensions(grid)
	blockX, blockY, blockZ := dimensions(launched.Block)
	r := q.device.api.LaunchKernel(launched.function, x, y, z, blockX, blockY, blockZ, uint32(launched.Shared), q.stream, unsafe.SliceData(q.params), nil)
	if r != libcuda.Success {
		return q.failed(r, "launching kernel %s", launched.Name)
	}
	return nil
}

func dimensions(of [3]int) (x, y, z uint32) { return uint32(of[0]), uint32(of[1]), uint32(of[2]) }

func (q *queue) Replay(g gpu.Graph) error {
	if err := q.enter(); err != nil {
		return err
	}
	defer q.leave()
	replayed, err := q.device.checkGraph(g)
	if err != nil {
		return err
	}
	return replayed.replay(q)
}

// Wait implements [gpu.Queue].
func (q *queue) Wait(ctx context.Context) error { return gpu.Poll(ctx, q.poll) }

// poll reports whether all work is done. If so, it first completes the downloads.
func (q *queue) poll() (done bool, err error) {
	if err := q.enter(); err != nil {
		return false, err
	}
	defer q.leave()
	switch r := q.device.api.StreamQuery(q.stream); r {
	case libcuda.NotReady:
		return false, nil
	case libcuda.Success:
	default:
		return false, q.failed(r, "waiting")
	}
	if err := q.fill(len(q.fills)); err != nil {
		return false, err
	}
	q.rewind()
	q.started = names{}
	return true, nil
}

func (q *queue) fill(n int) error {
	for _, f := range q.fills[:n] {
		if err := q.device.copy(f.to, f.from); err != nil {
			return err
		}
	}
	q.filled += n
	q.fills = slices.Delete(q.fills, 0, n)
	return nil
}

func (q *queue) Close() error {
	known := q.device.lost.Load() != nil // and reported
	if q.enter() == nil {
		q.filled += len(q.fills) // downloads that did not arrive yet are dropped
		q.fills = nil
		q.leave()
	}
	err := q.Wait(context.Background())
	if known || err == errQueueClosed || err == errDeviceClosed {
		return nil // closed before
	}
	if q.enter() == nil { // else the device gives it back
		defer q.leave()
		forget(q.device, q.device.queues, q)
		q.release(err == nil)
	}
	return err
}

// release destroys the stream and the clock. If `keep` is true, it leaves slots of pinned memory to
// later queues of the device, up to the device's limit. It frees the other slots. The caller must
// make sure that no other call of the queue runs.
func (q *queue) release(keep bool) {
	q.closed = true
	q.fills = nil
	q.staging.release(q.device, keep)
	q.clock.release(q.device)
	q.device.api.StreamDestroy(q.stream)
}

// names is a set of names of kernels. It keeps at most three: first[:n] has the first names, and
// more is set if there were others.
type names struct {
	first [3]string
	n     int
	more  bool
}

func (l *names) add(name string) {
	switch {
	case slices.Contains(l.first[:l.n], name):
	case l.n < len(l.first):
		l.first[l.n] = name
		l.n++
	default:
		l.more = true
	}
}

func (l *names) addAll(m *names) {
	for _, name := range m.first[:m.n] {
		l.add(name)
	}
	l.more = l.more || m.more
}

// String returns the kernels in which a failure may have happened.
func (l *names) String() string {
	switch list := strings.Join(l.first[:l.n], ", "); {
	case l.n == 0:
		return "a kernel of another queue"
	case l.more:
		return "one of the kernels " + list + ", …"
	case l.n > 1:
		return "one of the kernels " + list
	default:
		return "kernel " + list
	}
}
