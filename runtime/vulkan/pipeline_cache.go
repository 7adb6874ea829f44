package vulkan

import (
	"crypto/sha256"
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/burngen/burngen/runtime/gpu"
)

// pipelineCache is the driver's cache of compiled kernels, kept in a file between runs.
type pipelineCache struct {
	handle handle
	file   string
	grown  atomic.Bool // whether kernels were compiled since the last save
	mu     sync.Mutex
	saved  [sha256.Size]byte // what the file has
}

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

// save writes the file if kernels were compiled. A cache that cannot be written is no error: the next
// run compiles again.
func (c *pipelineCache) save(d *device) {
	if !c.grown.Swap(false) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
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
