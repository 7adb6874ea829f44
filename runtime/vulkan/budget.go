package vulkan

import (
	"slices"
	"sync"
	"unsafe"
)

// budget counts the memory that a device has allocated from the driver, for each heap of the
// driver.
type budget struct {
	adapter *adapter
	query   command // vkGetPhysicalDeviceMemoryProperties2
	mu      sync.Mutex
	bytes   [16]int64
	count   uint32 // allocations
}

// reserve counts an allocation of a memory type. It reports false, and does not count it, if there
// is no room for it.
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

// release takes back a reservation.
func (b *budget) release(memoryType uint32, bytes int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.bytes[b.adapter.memory.types[memoryType].heap] -= bytes
	b.count--
}

// available returns the bytes that are left for a memory type, and whether the number of
// allocations has reached the driver's limit. It asks the driver, if the driver can tell. Otherwise
// it subtracts the allocations of this device from the size of the heap.
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
