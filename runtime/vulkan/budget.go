package vulkan

import (
	"slices"
	"sync"
	"unsafe"
)

// budget counts the memory that a device has allocated, for each heap of the driver.
type budget struct {
	adapter *adapter
	query   command // vkGetPhysicalDeviceMemoryProperties2
	mu      sync.Mutex
	// indexed by heap
	bytes [16]int64
	// number of allocations
	count uint32
}

// reserve counts an allocation. If there is not enough memory for it, reserve returns false and
// does not count it.
func (b *budget) reserve(memoryType uint32, bytes int64) bool {
	left, full := b.available(memoryType)
	if full || bytes > left {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bytes[b.adapter.memory.types[memoryType].heap] += bytes
	b.count++
	return true
}

// release undoes a reservation.
func (b *budget) release(memoryType uint32, bytes int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bytes[b.adapter.memory.types[memoryType].heap] -= bytes
	b.count--
}

// available returns the number of bytes left in the heap of a memory type, and whether the number
// of allocations has reached the driver's limit. It asks VK_EXT_memory_budget if the device has
// this extension. Otherwise it subtracts the allocations of this device from the size of the heap.
func (b *budget) available(memoryType uint32) (bytes int64, full bool) {
	heap := b.adapter.memory.types[memoryType].heap
	b.mu.Lock()
	defer b.mu.Unlock()
	full = b.count >= b.adapter.properties.limits.maxMemoryAllocationCount
	if slices.Contains(b.adapter.extensions, "VK_EXT_memory_budget") {
		now := &memoryBudgetProperties{sType: typeMemoryBudgetProperties}
		memory := &memoryProperties2{sType: typeMemoryProperties2, next: unsafe.Pointer(now)}
		b.query.call(b.adapter.handle, uintptr(unsafe.Pointer(memory)))
		return max(int64(now.budget[heap]-now.usage[heap]), 0), full
	}
	return max(int64(b.adapter.memory.heaps[heap].size)-b.bytes[heap], 0), full
}
