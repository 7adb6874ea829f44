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

// alignment is the alignment, in bytes, of the addresses and sizes of memory.
const alignment = 256

// heap hands out memory of one type. Large pieces are allocations of their own; small ones are parts
// of shared blocks, because devices limit the number of allocations. Its methods are safe for
// concurrent use.
type heap struct {
	device    *device
	memory    uint32 // the memory type
	mapped    bool   // whether the host sees the memory
	blockSize int64  // bytes of a shared block
	keep      int    // how many empty blocks of one piece are kept for pieces of the same size
	mu        sync.Mutex
	blocks    []*block // by address
	kept      []*block // empty, and not in blocks
}

// block is an allocation of the driver, with one buffer on all of it.
type block struct {
	memory, buffer handle
	address        gpu.Address // of the first aligned byte
	offset         int64       // of that byte in the buffer
	size           int64       // from there
	host           []byte      // the same bytes, if the host sees them
	used           []span      // in order
	shared         bool
}

// span is a part of a block.
type span struct {
	start, size int64
}

// piece is memory that a heap handed out.
type piece struct {
	block *block
	span
}

func (p piece) at() gpu.Address { return p.block.address + gpu.Address(p.start) }
func (p piece) bytes() []byte   { return p.block.host[p.start : p.start+p.size] }

// place returns the buffer and offset of a byte of the piece.
func (p piece) place(offset int64) place {
	return place{p.block.buffer, p.block.offset + p.start + offset}
}

// newHeap returns a heap of memory with the properties of the first element of choices for which
// the device has a type in mask. It returns an error if there is no such type.
func (d *device) newHeap(blockSize int64, mask uint32, choices ...uint32) (*heap, error) {
	for _, properties := range choices {
		if t, ok := d.adapter.memoryType(mask, properties); ok {
			return &heap{device: d, memory: t, mapped: properties&memoryHostVisible != 0, blockSize: blockSize}, nil
		}
	}
	return nil, fmt.Errorf("the device has no memory with the properties %#x", choices)
}

// alloc hands out at least this many bytes. It returns an error that wraps [gpu.ErrMemory] if the
// memory is used up.
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

// takeKept returns a kept block of this size, or nil.
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

// dropKept frees the kept blocks.
func (h *heap) dropKept() {
	for _, b := range h.kept {
		h.giveBack(b)
	}
	h.kept = nil
}

// insert adds a block to the list.
func (h *heap) insert(b *block) {
	i, _ := slices.BinarySearchFunc(h.blocks, b.address, func(b *block, at gpu.Address) int { return cmp.Compare(b.address, at) })
	h.blocks = slices.Insert(h.blocks, i, b)
}

// gap finds the first unused part of this size in a shared block, and returns its start. ok is
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

// free takes back the piece that begins at an address. It ignores other addresses.
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

// blockOf returns the index and the block that contains an address. The block is nil if there is no
// such block.
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

// place is a position in a buffer.
type place struct {
	buffer handle
	offset int64
}

// find returns the place of n bytes at an address. It returns an error unless all of them are in
// one piece that the heap handed out.
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

// addBlock allocates a block of size bytes. want is the size that errors report.
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

// create creates a block's buffer and its memory, of `whole` bytes. If it returns an error, the
// block has the objects that were created before.
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

// giveBack frees a block. The caller removes it from the heap's lists.
func (h *heap) giveBack(b *block) {
	h.giveBackHandles(b)
	h.device.budget.release(h.memory, b.size+alignment)
}

func (h *heap) giveBackHandles(b *block) {
	d := h.device
	d.vk.DestroyBuffer.call(d.handle, uintptr(b.buffer), 0)
	d.vk.FreeMemory.call(d.handle, uintptr(b.memory), 0)
}

// close frees all blocks.
func (h *heap) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, b := range h.blocks {
		h.giveBack(b)
	}
	h.blocks = nil
	h.dropKept()
}

// tooLittle returns the error for an allocation of `want` bytes that is too large, or one too many.
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
