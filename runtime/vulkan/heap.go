package vulkan

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"unsafe"

	"github.com/burngen/burngen/runtime/gpu"
)

// alignment is the alignment of addresses and sizes of pieces, in bytes.
const alignment = 256

// heap allocates memory of one memory type. A large piece is one allocation of the driver. Small
// pieces are parts of shared blocks, because devices limit the number of allocations. Its methods
// are safe for concurrent use.
type heap struct {
	device *device
	memory uint32 // the memory type
	// the host can access the memory
	mapped bool
	// size in bytes of a shared block
	blockSize int64
	// largest number of empty unshared blocks that are kept for pieces of the same size
	keep int
	mu   sync.Mutex
	// sorted by address
	blocks []*block
	// empty blocks that are not in blocks
	kept []*block
}

// block is a driver allocation with one buffer for all of it.
type block struct {
	memory, buffer handle
	address        gpu.Address // of the first aligned byte
	// position of address in the buffer
	offset int64
	// number of bytes from address on
	size int64
	// these bytes, if the host can access them
	host []byte
	// sorted by start
	used   []span
	shared bool
}

type span struct {
	start, size int64
}

type piece struct {
	block *block
	span
}

func (p piece) at() gpu.Address { return p.block.address + gpu.Address(p.start) }
func (p piece) bytes() []byte   { return p.block.host[p.start : p.start+p.size] }

func (p piece) place(offset int64) place {
	return place{p.block.buffer, p.block.offset + p.start + offset}
}

// newHeap returns a heap. It considers the memory types in mask, a bit set. The elements of choices
// are sets of memory properties, the preferred set first. The heap has the properties of the first
// set for which there is a memory type. newHeap returns an error if no set has a memory type.
func (d *device) newHeap(blockSize int64, mask uint32, choices ...uint32) (*heap, error) {
	for _, properties := range choices {
		if t, ok := d.adapter.memoryType(mask, properties); ok {
			return &heap{device: d, memory: t, mapped: properties&memoryHostVisible != 0, blockSize: blockSize}, nil
		}
	}
	return nil, fmt.Errorf("the device has no memory with the properties %#x", choices)
}

// alloc allocates at least `bytes` bytes. Its error wraps [gpu.ErrMemory] if there is not enough
// memory.
func (h *heap) alloc(bytes int64) (piece, error) {
	if bytes < 0 {
		return piece{}, fmt.Errorf("%d bytes are negative", bytes)
	}
	if bytes > math.MaxInt64/2 {
		return piece{}, h.tooLittle(bytes)
	}
	size := (max(bytes, 1) + alignment - 1) / alignment * alignment
	h.mu.Lock()
	defer h.mu.Unlock()
	own := size*8 > h.blockSize
	if !own {
		for _, b := range h.blocks {
			if start, ok := b.gap(size); ok {
				return b.use(span{start, size}), nil
			}
		}
		if b, err := h.addBlock(h.blockSize, bytes); err == nil {
			b.shared = true
			return b.use(span{0, size}), nil
		} // the rest of the memory may be enough for the piece alone
	}
	if b := h.takeKept(size); b != nil {
		return b.use(span{0, size}), nil
	}
	b, err := h.addBlock(size, bytes)
	if err != nil && len(h.kept) > 0 {
		h.dropKept()
		b, err = h.addBlock(size, bytes)
	}
	if err != nil {
		return piece{}, err
	}
	return b.use(span{0, size}), nil
}

// takeKept removes a block of this size from the kept ones and returns it, or nil.
func (h *heap) takeKept(size int64) *block {
	i := slices.IndexFunc(h.kept, func(b *block) bool { return b.size == size })
	if i < 0 {
		return nil
	}
	b := h.kept[i]
	h.kept = slices.Delete(h.kept, i, i+1)
	h.insert(b)
	return b
}

func (h *heap) dropKept() {
	for _, b := range h.kept {
		h.giveBack(b)
	}
	h.kept = nil
}

func (h *heap) insert(b *block) {
	i, _ := slices.BinarySearchFunc(h.blocks, b.address, func(b *block, at gpu.Address) int { return cmp.Compare(b.address, at) })
	h.blocks = slices.Insert(h.blocks, i, b)
}

// gap returns the start of the first unused part of at least size bytes in a shared block. ok is
// false if there is no such part.
func (b *block) gap(size int64) (start int64, ok bool) {
	if !b.shared {
		return 0, false
	}
	for _, u := range b.used {
		if u.start-start >= size {
			return start, true
		}
		start = u.start + u.size
	}
	return start, b.size-start >= size
}

func (b *block) use(s span) piece {
	i, _ := slices.BinarySearchFunc(b.used, s.start, compareStart)
	b.used = slices.Insert(b.used, i, s)
	return piece{b, s}
}

func compareStart(s span, start int64) int { return cmp.Compare(s.start, start) }

// free frees the piece that starts at an address. It ignores other addresses.
func (h *heap) free(at gpu.Address) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i, b := h.blockOf(at)
	if b == nil {
		return
	}
	u, ok := slices.BinarySearchFunc(b.used, int64(at-b.address), compareStart)
	if !ok {
		return
	}
	b.used = slices.Delete(b.used, u, u+1)
	// One empty shared block is kept for later pieces.
	if len(b.used) > 0 || b.shared && !slices.ContainsFunc(h.blocks, func(o *block) bool { return o != b && o.shared && len(o.used) == 0 }) {
		return
	}
	h.blocks = slices.Delete(h.blocks, i, i+1)
	if !b.shared && len(h.kept) < h.keep {
		h.kept = append(h.kept, b)
		return
	}
	h.giveBack(b)
}

// blockOf returns the block that contains an address, and its index in blocks. The block is nil if
// no block contains the address.
func (h *heap) blockOf(at gpu.Address) (int, *block) {
	i, exact := slices.BinarySearchFunc(h.blocks, at, func(b *block, at gpu.Address) int { return cmp.Compare(b.address, at) })
	if !exact {
		i--
	}
	if i < 0 || at >= h.blocks[i].address+gpu.Address(h.blocks[i].size) {
		return 0, nil
	}
	return i, h.blocks[i]
}

type place struct {
	buffer handle
	offset int64
}

// find returns the position of n bytes at an address. It returns an error if they are not all
// inside one piece.
func (h *heap) find(at gpu.Address, n int) (place, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, b := h.blockOf(at)
	if b == nil {
		return place{}, fmt.Errorf("address %#x is not allocated", uint64(at))
	}
	start := int64(at - b.address)
	i, exact := slices.BinarySearchFunc(b.used, start, compareStart)
	if !exact {
		i--
	}
	if i < 0 || start >= b.used[i].start+b.used[i].size {
		return place{}, fmt.Errorf("address %#x is not allocated", uint64(at))
	}
	if left := b.used[i].start + b.used[i].size - start; int64(n) > left {
		return place{}, fmt.Errorf("address %#x has %d bytes, want %d", uint64(at), left, n)
	}
	return place{b.buffer, b.offset + start}, nil
}

// addBlock allocates a block of `size` bytes. Error messages name the size `want` instead.
func (h *heap) addBlock(size, want int64) (*block, error) {
	d := h.device
	whole := size + alignment // addresses of buffers may have a smaller alignment
	if whole > d.adapter.maxAlloc {
		return nil, fmt.Errorf("%w: want %d bytes, one allocation has at most %d", gpu.ErrMemory, want, d.adapter.maxAlloc-alignment)
	}
	if !d.budget.reserve(h.memory, whole) {
		return nil, h.tooLittle(want)
	}
	b := &block{}
	err := h.create(b, whole)
	if e := (*commandError)(nil); err != nil {
		h.giveBackHandles(b)
		d.budget.release(h.memory, whole)
		if errors.As(err, &e) && e.Unwrap() == gpu.ErrMemory {
			return nil, fmt.Errorf("%w (%v)", h.tooLittle(want), e.result)
		}
		return nil, err
	}
	b.offset = int64(-b.address & (alignment - 1))
	b.address += gpu.Address(b.offset)
	b.size = size
	if h.mapped {
		b.host = b.host[b.offset : b.offset+size]
	}
	h.insert(b)
	return b, nil
}

// create creates the buffer of a block and its memory of `whole` bytes. After an error, the caller
// must free what the block has.
func (h *heap) create(b *block, whole int64) error {
	d := h.device
	requirements, err := d.newBuffer(whole, &b.buffer)
	if err != nil {
		return err
	}
	allocate := &memoryAllocateInfo{
		sType: typeMemoryAllocateInfo,
		next:  &memoryAllocateFlagsInfo{sType: typeMemoryAllocateFlagsInfo, flags: memoryAllocateDeviceAddress},
		size:  requirements.size,
		index: h.memory,
	}
	if err := d.vk.AllocateMemory.try(d.handle, uintptr(unsafe.Pointer(allocate)), 0, uintptr(unsafe.Pointer(&b.memory))); err != nil {
		return err
	}
	if err := d.vk.BindBufferMemory.try(d.handle, uintptr(b.buffer), uintptr(b.memory), 0); err != nil {
		return err
	}
	info := &bufferDeviceAddressInfo{sType: typeBufferDeviceAddressInfo, buffer: b.buffer}
	b.address = gpu.Address(d.vk.GetBufferDeviceAddress.call(d.handle, uintptr(unsafe.Pointer(info))))
	if h.mapped {
		var host unsafe.Pointer
		const all = ^uintptr(0)
		if err := d.vk.MapMemory.try(d.handle, uintptr(b.memory), 0, all, 0, uintptr(unsafe.Pointer(&host))); err != nil {
			return err
		}
		b.host = unsafe.Slice((*byte)(host), whole)
	}
	return nil
}

// giveBack frees a block, which must not be in the heap's lists any more.
func (h *heap) giveBack(b *block) {
	h.giveBackHandles(b)
	h.device.budget.release(h.memory, b.size+alignment)
}

func (h *heap) giveBackHandles(b *block) {
	d := h.device
	d.vk.DestroyBuffer.call(d.handle, uintptr(b.buffer), 0)
	d.vk.FreeMemory.call(d.handle, uintptr(b.memory), 0)
}

func (h *heap) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, b := range h.blocks {
		h.giveBack(b)
	}
	h.blocks = nil
	h.dropKept()
}

// tooLittle returns the error for an allocation of `want` bytes that has failed: memory is missing,
// or the number of allocations has reached its limit.
func (h *heap) tooLittle(want int64) error {
	kind := "device"
	if h.mapped {
		kind = "host"
	}
	available, full := h.device.budget.available(h.memory)
	if full {
		return fmt.Errorf("%w: want %d bytes, but %d allocations are the most", gpu.ErrMemory, want, h.device.adapter.properties.limits.maxMemoryAllocationCount)
	}
	return fmt.Errorf("%w: want %d bytes of %s memory, %d are available", gpu.ErrMemory, want, kind, available)
}
