package vulkan

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/burngen/burngen/runtime/gpu"
)

var errClosed = errors.New("vulkan: the device is closed")

type device struct {
	adapter *adapter
	// the version that the instance requested
	apiVersion uint32
	log        *messageLog
	handle     uintptr
	vk         deviceCommands
	// the layout of all pipelines
	layout handle

	queues    []*hardwareQueue
	nextQueue atomic.Uint32

	memory *heap // for tensors
	// for copies between host and device
	staging   *heap
	arguments *heap // argument blocks
	budget    budget
	cache     pipelineCache

	mu       sync.RWMutex // held for reading while the device is in use outside of its children
	closed   bool
	children map[child]struct{}
}

// child is an object that is closed before its device.
type child interface {
	// shut closes it. It returns an error if its work failed. Later calls do nothing.
	shut() error
}

// hardwareQueue is a queue of the driver. Several values of type queue share it.
type hardwareQueue struct {
	mu     sync.Mutex
	handle uintptr
}

// keptStaging is the number of blocks of staging memory that are kept for later queues when a queue
// is closed. Allocating a block takes longer than a call of a small model.
const keptStaging = 4

// maxQueues is the largest number of driver queues that a device uses.
const maxQueues = 4

func openDevice(in *instance, a *adapter) (_ *device, err error) {
	d := &device{adapter: a, apiVersion: in.version, log: in.log, children: map[child]struct{}{}}
	defer func() {
		in.log.join(&err)
		if err != nil {
			d.destroy()
		}
	}()
	queues := min(a.queues, maxQueues)
	priorities := make([]float32, queues)
	create := &deviceCreateInfo{
		sType:          typeDeviceCreateInfo,
		next:           unsafe.Pointer(a.features),
		queueCount:     1,
		queues:         &deviceQueueCreateInfo{sType: typeDeviceQueueCreateInfo, family: a.family, count: queues, priorities: unsafe.Pointer(&priorities[0])},
		extensionCount: uint32(len(a.extensions)),
		extensions:     cStrings(a.extensions),
	}
	if err := in.vk.CreateDevice.try(a.handle, uintptr(unsafe.Pointer(create)), 0, uintptr(unsafe.Pointer(&d.handle))); err != nil {
		return nil, err
	}
	if err := findCommands(&d.vk, in.vk.GetDeviceProcAddr.address, d.handle); err != nil {
		return nil, err
	}
	for i := range queues {
		q := &hardwareQueue{}
		d.vk.GetDeviceQueue.call(d.handle, uintptr(a.family), uintptr(i), uintptr(unsafe.Pointer(&q.handle)))
		d.queues = append(d.queues, q)
	}
	d.budget = budget{adapter: a, query: in.vk.GetPhysicalDeviceMemoryProperties2}
	if err := d.openHeaps(); err != nil {
		return nil, err
	}
	layout := &pipelineLayoutCreateInfo{
		sType:      typePipelineLayoutCreateInfo,
		rangeCount: 1,
		ranges:     &pushConstantRange{stages: shaderStageCompute, size: 8},
	}
	if err := d.vk.CreatePipelineLayout.try(d.handle, uintptr(unsafe.Pointer(layout)), 0, uintptr(unsafe.Pointer(&d.layout))); err != nil {
		return nil, err
	}
	if err := d.cache.open(d); err != nil {
		return nil, err
	}
	return d, nil
}

// openHeaps opens the heaps for tensors, staging memory and arguments. It chooses memory types that
// support the buffers of newBuffer.
func (d *device) openHeaps() error {
	var probe handle
	requirements, err := d.newBuffer(alignment, &probe)
	if err != nil {
		return err
	}
	d.vk.DestroyBuffer.call(d.handle, uintptr(probe), 0)
	const host = memoryHostVisible | memoryHostCoherent
	if d.memory, err = d.newHeap(32<<20, requirements.types, memoryDeviceLocal); err != nil {
		return err
	}
	if d.staging, err = d.newHeap(4<<20, requirements.types, host|memoryHostCached, host); err != nil {
		return err
	}
	d.staging.keep = keptStaging
	d.arguments, err = d.newHeap(4<<20, requirements.types, host|memoryDeviceLocal, host)
	return err
}

// newBuffer creates a buffer of size bytes for all uses, stores its handle in *to, and returns its
// memory requirements.
func (d *device) newBuffer(size int64, to *handle) (*memoryRequirements, error) {
	create := &bufferCreateInfo{
		sType: typeBufferCreateInfo,
		size:  uint64(size),
		usage: bufferUsageTransferSource | bufferUsageTransferDestination | bufferUsageStorage | bufferUsageDeviceAddress,
	}
	if err := d.vk.CreateBuffer.try(d.handle, uintptr(unsafe.Pointer(create)), 0, uintptr(unsafe.Pointer(to))); err != nil {
		return nil, err
	}
	requirements := &memoryRequirements{}
	d.vk.GetBufferMemoryRequirements.call(d.handle, uintptr(*to), uintptr(unsafe.Pointer(requirements)))
	return requirements, nil
}

func (d *device) Info() gpu.Info { return d.adapter.info }

func (d *device) Alloc(bytes int64) (at gpu.Address, err error) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if d.closed {
		return 0, errClosed
	}
	defer d.log.join(&err)
	p, err := d.memory.alloc(bytes)
	if err != nil {
		return 0, fmt.Errorf("vulkan: allocate on %s: %w", d.adapter.info.Name, err)
	}
	return p.at(), nil
}

func (d *device) Free(at gpu.Address) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if !d.closed && at != 0 {
		d.memory.free(at)
	}
}

// adopt calls `make` and registers the result as a child of the device. It returns the result. It
// returns an error if the device is closed or `make` returns one.
func adopt[C child](d *device, make func() (C, error)) (made C, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return made, errClosed
	}
	defer d.log.join(&err)
	if made, err = make(); err == nil {
		d.children[made] = struct{}{}
	}
	return made, err
}

// forget unregisters a closed child.
func (d *device) forget(c child) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.children, c)
}

func (d *device) Close() (err error) {
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return nil
	}
	d.closed = true
	var queues, others []child
	for c := range d.children {
		if _, ok := c.(*queue); ok {
			queues = append(queues, c)
		} else {
			others = append(others, c)
		}
	}
	d.mu.Unlock()
	for _, c := range append(queues, others...) { // queues first: they wait for the work on the others
		if e := c.shut(); err == nil {
			err = e
		}
	}
	d.cache.finish(d)
	d.destroy()
	d.log.join(&err)
	return err
}

// destroy frees the objects that openDevice has created, even if openDevice has failed halfway.
func (d *device) destroy() {
	for _, h := range []*heap{d.memory, d.staging, d.arguments} {
		if h != nil {
			h.close()
		}
	}
	if d.vk.DestroyDevice.address == 0 {
		return
	}
	d.vk.DestroyPipelineCache.call(d.handle, uintptr(d.cache.handle), 0)
	d.vk.DestroyPipelineLayout.call(d.handle, uintptr(d.layout), 0)
	d.vk.DestroyDevice.call(d.handle, 0)
}
