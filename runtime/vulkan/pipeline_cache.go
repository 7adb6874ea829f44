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

// pipelineCache is the driver's cache of compiled kernels, which is stored in a file between runs.
type pipelineCache struct {
	handle handle
	file   string
	// kernels have been compiled since the last save
	grown atomic.Bool
	mu    sync.Mutex
	// digest of the file's contents
	saved [sha256.Size]byte
	// earliest time of the next save
	next time.Time
}

// saveShare limits the fraction of the time that is spent on saving while kernels are being
// compiled. If a save takes t, the next one begins at least saveShare·t later.
const saveShare = 20

// open creates the cache with the contents of the file for this device and driver. The cache is
// empty if the file is missing or the driver rejects it.
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

// save writes the file if kernels have been compiled since the last save. It does nothing if
// another goroutine is saving, or if saveShare says that it is too early. Errors are ignored,
// because the next run can compile the kernels again.
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

// finish writes the file if kernels have been compiled since the last save.
func (c *pipelineCache) finish(d *device) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.grown.Load() {
		c.write(d)
	}
}

// write writes the file if its contents have changed and do not exceed gpu.CacheLimit. The caller
// holds c.mu.
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
