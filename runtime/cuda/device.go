package cuda

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/burngen/burngen/runtime/cuda/internal/libcuda"
	"github.com/burngen/burngen/runtime/gpu"
)

// device is a [gpu.Opened] in the primary context of a card.
type device struct {
	driver  *driver
	api     *libcuda.API
	info    gpu.Info
	handle  libcuda.Device
	context libcuda.Context

	// held for reading by each call, and for writing by Close
	mu     sync.RWMutex
	closed bool
	// the error that made the context unusable
	lost atomic.Pointer[error]

	tables  sync.Mutex // guards the fields below, whose objects Close frees
	memory  map[gpu.Address]struct{}
	mapped  map[gpu.Address][]byte // pinned memory that kernels access
	modules map[*module]struct{}
	graphs  map[*graph]struct{}
	queues  map[*queue]struct{}
	spare   []slot // slots of closed queues
}

// openDevice retains the primary context of a card.
func openDevice(dr *driver, api *libcuda.API, info gpu.Info, handle libcuda.Device) (gpu.Opened, error) {
	d := &device{
		driver: dr, api: api, info: info, handle: handle,
		memory:  map[gpu.Address]struct{}{},
		mapped:  map[gpu.Address][]byte{},
		modules: map[*module]struct{}{},
		graphs:  map[*graph]struct{}{},
		queues:  map[*queue]struct{}{},
	}
	r := api.PrimaryRetain(&d.context, handle)
	if r == libcuda.OutOfMemory {
		return nil, fmt.Errorf("cuda: %w: %s has no room for a context", gpu.ErrMemory, info.Name)
	}
	if r != libcuda.Success {
		return nil, d.failed(r, "opening %s", info.Name)
	}
	// The context is shared. If it is already lost, asking for the free memory fails.
	err := d.enter()
	if err == nil {
		var free, total uintptr
		if r := api.MemGetInfo(&free, &total); r != libcuda.Success {
			err = d.failed(r, "opening %s", info.Name)
		}
		d.leave()
	}
	if err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// enter begins a call of the device, and leave ends it. Between the two, the device stays open and
// its context is current. enter returns an error if the device is closed or lost, or if its context
// cannot be made current. After an error, leave must not be called.
func (d *device) enter() error {
	d.mu.RLock()
	err := error(nil)
	if d.closed {
		err = errDeviceClosed
	} else if lost := d.lost.Load(); lost != nil {
		err = *lost
	}
	if err != nil {
		d.mu.RUnlock()
		return err
	}
	if err := d.bind(); err != nil {
		d.leave()
		return err
	}
	return nil
}

func (d *device) leave() {
	runtime.UnlockOSThread()
	d.mu.RUnlock()
}

// bind locks the goroutine to its thread, and makes the device's context current on this thread. If
// bind returns an error, the goroutine is locked nevertheless.
func (d *device) bind() error {
	runtime.LockOSThread()
	if r := d.api.CtxSetCurrent(d.context); r != libcuda.Success {
		return d.failed(r, "entering the context")
	}
	return nil
}

func (d *device) Info() gpu.Info { return d.info }

func (d *device) Alloc(bytes int64) (gpu.Address, error) {
	if bytes < 0 || uint64(bytes) > uint64(^uintptr(0)) {
		return 0, fmt.Errorf("cuda: %w: %d bytes are wanted", gpu.ErrMemory, bytes)
	}
	if err := d.enter(); err != nil {
		return 0, err
	}
	defer d.leave()
	var address libcuda.Address
	switch r := d.api.MemAlloc(&address, uintptr(max(bytes, 1))); r {
	case libcuda.Success:
	case libcuda.OutOfMemory:
		return 0, d.noMemory(fmt.Sprintf("%d bytes are wanted", bytes))
	default:
		return 0, d.failed(r, "allocating %d bytes", bytes)
	}
	keep(d, d.memory, gpu.Address(address))
	return gpu.Address(address), nil
}

func (d *device) Free(a gpu.Address) {
	if a == 0 || d.enter() != nil {
		return
	}
	defer d.leave()
	if d.unmap(a) || !forget(d, d.memory, a) {
		return
	}
	if r := d.api.MemFree(libcuda.Address(a)); r != libcuda.Success {
		d.failed(r, "freeing memory") // a loss is remembered for the next call
	}
}

func keep[K comparable](d *device, table map[K]struct{}, k K) {
	d.tables.Lock()
	defer d.tables.Unlock()
	table[k] = struct{}{}
}

// forget removes k from a table of objects that Close frees. It reports whether k was in the table.
func forget[K comparable](d *device, table map[K]struct{}, k K) bool {
	d.tables.Lock()
	defer d.tables.Unlock()
	_, ok := table[k]
	delete(table, k)
	return ok
}

// eachQueue calls do for each queue of the device. It locks the queue meanwhile, so no call of this
// queue runs. Later calls of the queue see everything that was stored before eachQueue was called.
func (d *device) eachQueue(do func(*queue)) {
	d.tables.Lock()
	queues := slices.Collect(maps.Keys(d.queues))
	d.tables.Unlock()
	for _, q := range queues {
		q.mu.Lock()
		do(q)
		q.mu.Unlock()
	}
}

func (d *device) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	known := d.lost.Load() != nil // and reported
	defer runtime.UnlockOSThread()
	err := d.bind()
	for q := range d.queues {
		if r := d.api.StreamSynchronize(q.stream); r != libcuda.Success && err == nil {
			err = q.failed(r, "closing")
		}
	}
	for g := range d.graphs {
		g.release()
	}
	for q := range d.queues {
		q.release(false)
	}
	for _, s := range d.spare {
		s.free(d)
	}
	for m := range d.modules {
		d.api.ModuleUnload(m.handle)
	}
	for a := range d.memory {
		d.api.MemFree(libcuda.Address(a))
	}
	for _, m := range d.mapped {
		d.unpin(m)
	}
	d.memory, d.mapped, d.modules, d.graphs, d.queues, d.spare = nil, nil, nil, nil, nil, nil
	if r := d.api.PrimaryRelease(d.handle); r != libcuda.Success && err == nil {
		err = d.failed(r, "closing %s", d.info.Name)
	}
	if known {
		return nil
	}
	return err
}
