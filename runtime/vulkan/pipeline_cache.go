package vulkan

import (
	"crypto/sha256"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/burngen/burngen/runtime/gpu"
)

// pipelineCache is the driver's cache of compiled kernels, kept in a file between runs.
type pipelineCache struct {
	handle handle
	file   string
	grown  atomic.Bool // whether kernels were compiled since the last save
	mu     sync.Mutex
	saved  [sha256.Size]byte // the digest of the file's contents
	next   time.Time         // when to save at the earliest
}

// saveShare bounds the share of the time that goes into saving the cache while kernels are compiled again and again:
// after a save, saveShare times its duration passes before the next one.
const saveShare = 20

// open creates the cache from the file for this device and driver. If the file is missing or the
// driver rejects it, the cache is empty.
func (c *pipelineCache) open(d *device) error {
	p := d.adapter.properties
	c.file = fmt.Sprintf("vulkan-%04x-%04x-%08x-%x", p.vendor, p.device, p.driverVersion, p.pipelineCacheUUID)
	create := &pipelineCacheCreateInfo{sType: typePipelineCacheCreateInfo}
	if data := gpu.ReadCache(c.file); len(data) > 0 {
		c.saved = sha256.Sum256(data)
		create.size, create.data = uintptr(len(data)), &data[0]
	}
	err := d.vk.CreatePipelineCache.try(d.handle, uintptr(unsafe.Pointer(create)), 0, uintptr(unsafe.Pointer(&c.handle)))
	if err != nil && create.size > 0 {
		create.size, create.data = 0, nil
		err = d.vk.CreatePipelineCache.try(d.handle, uintptr(unsafe.Pointer(create)), 0, uintptr(unsafe.Pointer(&c.handle)))
	}
	return err
}

// save writes the file if kernels were compiled since the last save, unless another goroutine does so or saveShare asks
// for more time. A cache that cannot be written is not an error: the next run compiles again.
func (c *pipelineCache) save(d *device) {
	if !c.grown.Load() || !c.mu.TryLock() {
		return
	}
	defer c.mu.Unlock()
	if start := time.Now(); start.After(c.next) {
		c.write(d)
		c.next = time.Now().Add(saveShare * time.Since(start))
	}
}

// finish writes the file if kernels were compiled since the last save.
func (c *pipelineCache) finish(d *device) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.grown.Load() {
		c.write(d)
	}
}

// write writes the file if it changes and is not too large. The caller holds c.mu.
func (c *pipelineCache) write(d *device) {
	c.grown.Store(false)
	var size uintptr
	if d.vk.GetPipelineCacheData.try(d.handle, uintptr(c.handle), uintptr(unsafe.Pointer(&size)), 0) != nil || size == 0 || size > gpu.CacheLimit {
		return
	}
	data := make([]byte, size)
	if d.vk.GetPipelineCacheData.try(d.handle, uintptr(c.handle), uintptr(unsafe.Pointer(&size)), uintptr(unsafe.Pointer(&data[0]))) != nil {
		return
	}
	data = data[:size]
	if sum := sha256.Sum256(data); sum != c.saved && gpu.WriteCache(c.file, data) == nil {
		c.saved = sum
	}
}
