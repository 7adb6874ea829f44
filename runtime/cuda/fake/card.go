package fake

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/burngen/burngen/runtime/cuda/internal/libcuda"
)

// card is a device and its primary context. GPU.mu guards it.
type card struct {
	gpu      *GPU
	index    int
	retained int
	// the failure that lost the context, until the context is released for the last time
	lost   libcuda.Result
	memory map[uint64][]byte
	used   int64
}

type pinned struct {
	card   *card
	memory []byte
	mapped bool // kernels may access it
}

const optinShared = 232448

func (g *GPU) init(uint32) libcuda.Result {
	if len(g.cards) == 0 {
		return libcuda.NoDevice
	}
	return libcuda.Success
}

func (g *GPU) driverGetVersion(version *int32) libcuda.Result {
	*version = g.options.Version
	return libcuda.Success
}

func (g *GPU) deviceGetCount(count *int32) libcuda.Result {
	*count = int32(len(g.cards))
	return libcuda.Success
}

func (g *GPU) deviceGet(device *libcuda.Device, ordinal int32) libcuda.Result {
	if int(ordinal) >= len(g.cards) {
		return libcuda.InvalidDevice
	}
	*device = libcuda.Device(ordinal)
	return libcuda.Success
}

func (g *GPU) deviceGetName(name *byte, bytes int32, device libcuda.Device) libcuda.Result {
	to := unsafe.Slice(name, bytes)
	copy(to[:bytes-1], fmt.Sprintf("Fake GPU %d\x00", device))
	return libcuda.Success
}

func (g *GPU) deviceTotalMem(bytes *uintptr, _ libcuda.Device) libcuda.Result {
	*bytes = uintptr(g.options.Memory)
	return libcuda.Success
}

func (g *GPU) deviceGetAttr(value *int32, attr libcuda.DeviceAttr, _ libcuda.Device) libcuda.Result {
	values := map[libcuda.DeviceAttr]int32{
		libcuda.WarpSize: 32, libcuda.CapabilityMajor: g.options.Capability[0], libcuda.CapabilityMinor: g.options.Capability[1], libcuda.MaxSharedMemoryOptin: optinShared,
	}
	v, ok := values[attr]
	if !ok {
		return libcuda.InvalidValue
	}
	*value = v
	return libcuda.Success
}

func (g *GPU) primaryRetain(context *libcuda.Context, device libcuda.Device) libcuda.Result {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.cards[device].retained++
	*context = libcuda.Context(device) + 1
	return libcuda.Success
}

// primaryRelease releases the context. If the context is lost, the call that releases it for the
// last time also frees its memory and objects, because calls that free single objects fail then.
func (g *GPU) primaryRelease(device libcuda.Device) libcuda.Result {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.cards[device]
	if c.retained == 0 {
		return libcuda.InvalidContext
	}
	c.retained--
	if c.retained > 0 || c.lost == libcuda.Success {
		return libcuda.Success
	}
	c.lost, c.memory, c.used = libcuda.Success, map[uint64][]byte{}, 0
	dropOf(g.pinned, func(p pinned) bool { return p.card == c })
	dropOf(g.streams, func(s *stream) bool { return s.card == c })
	dropOf(g.events, func(e *event) bool { return e.card == c })
	dropOf(g.links, func(l *link) bool { return l.card == c })
	dropOf(g.modules, func(m *module) bool { return m.card == c })
	dropOf(g.graphs, func(gr *graph) bool { return gr.card == c })
	dropOf(g.execs, func(e *exec) bool { return e.card == c })
	return libcuda.Success
}

func dropOf[K comparable, V any](m map[K]V, is func(V) bool) {
	for k, v := range m {
		if is(v) {
			delete(m, k)
		}
	}
}

func (g *GPU) ctxSetCurrent(context libcuda.Context) libcuda.Result {
	g.mu.Lock()
	defer g.mu.Unlock()
	if context < 1 || int(context) > len(g.cards) || g.cards[context-1].retained == 0 {
		return libcuda.InvalidContext
	}
	g.current[thread()] = g.cards[context-1]
	return libcuda.Success
}

func (g *GPU) memGetInfo(free, total *uintptr) libcuda.Result {
	g.mu.Lock()
	defer g.mu.Unlock()
	c, r := g.here()
	if r == libcuda.Success {
		*free, *total = uintptr(g.options.Memory-c.used), uintptr(g.options.Memory)
	}
	return r
}

func (g *GPU) memAlloc(address *libcuda.Address, bytes uintptr) libcuda.Result {
	g.mu.Lock()
	defer g.mu.Unlock()
	c, r := g.here()
	if r != libcuda.Success {
		return r
	}
	if bytes == 0 {
		return libcuda.InvalidValue
	}
	if bytes > uintptr(g.options.Memory-c.used) {
		return libcuda.OutOfMemory
	}
	memory := make([]byte, bytes)
	fillBytes(memory, 0xa5)
	c.memory[g.address] = memory
	c.used += int64(bytes)
	*address = libcuda.Address(g.address)
	g.address += (uint64(bytes)+511)&^511 + 1<<16 // out of the reach of small mistakes
	return libcuda.Success
}

// memFree frees device memory. Like the driver, it first waits for all work of the context.
func (g *GPU) memFree(address libcuda.Address) libcuda.Result {
	g.mu.Lock()
	c, r := g.here()
	if r != libcuda.Success {
		g.mu.Unlock()
		return r
	}
	var streams []*stream
	for _, s := range g.streams {
		if s.card == c {
			streams = append(streams, s)
		}
	}
	g.mu.Unlock()
	for _, s := range streams {
		s.wait()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	memory, ok := c.memory[uint64(address)]
	if !ok {
		return libcuda.InvalidValue
	}
	delete(c.memory, uint64(address))
	c.used -= int64(len(memory))
	return libcuda.Success
}

// At implements [Memory].
func (c *card) At(address uint64, n int) ([]byte, error) {
	c.gpu.mu.Lock()
	defer c.gpu.mu.Unlock()
	return c.at(address, n)
}

// Allocation implements [Memory].
func (c *card) Allocation(address uint64) (first uint64, data []byte, err error) {
	c.gpu.mu.Lock()
	defer c.gpu.mu.Unlock()
	return c.allocation(address)
}

// allocation is [card.Allocation] for callers that already hold g.mu. The address directly after an
// allocation counts as part of the allocation.
func (c *card) allocation(address uint64) (first uint64, data []byte, err error) {
	for start, memory := range c.memory {
		if address >= start && address-start <= uint64(len(memory)) {
			return start, memory, nil
		}
	}
	for first, p := range c.gpu.pinned {
		start := uint64(uintptr(unsafe.Pointer(first)))
		if p.mapped && p.card == c && address >= start && address-start <= uint64(len(p.memory)) {
			return start, p.memory, nil
		}
	}
	return 0, nil, fmt.Errorf("%w: %#x, where no memory is allocated", ErrAddress, address)
}

// at is [card.At] for callers that hold g.mu.
func (c *card) at(address uint64, n int) ([]byte, error) {
	start, memory, err := c.allocation(address)
	if err != nil {
		return nil, err
	}
	at := address - start
	if n < 0 || uint64(n) > uint64(len(memory))-at {
		return nil, fmt.Errorf("%w: %d bytes at %d of an allocation of %d", ErrAddress, n, at, len(memory))
	}
	return memory[at : at+uint64(n) : at+uint64(n)], nil
}

// lose marks the context as lost. err is the reason. Later calls in the context fail.
func (c *card) lose(err error) {
	c.gpu.mu.Lock()
	defer c.gpu.mu.Unlock()
	if c.gpu.fault == nil {
		c.gpu.fault = err
	}
	if c.lost != libcuda.Success {
		return
	}
	c.lost = libcuda.LaunchFailed
	if errors.Is(err, ErrAddress) {
		c.lost = libcuda.IllegalAddress
	}
}

func (c *card) isLost() bool {
	c.gpu.mu.Lock()
	defer c.gpu.mu.Unlock()
	return c.lost != libcuda.Success
}

func (g *GPU) memHostAlloc(host **byte, bytes uintptr, flags uint32) libcuda.Result {
	g.mu.Lock()
	defer g.mu.Unlock()
	c, r := g.here()
	if r != libcuda.Success {
		return r
	}
	memory := make([]byte, bytes)
	g.pinned[&memory[0]] = pinned{c, memory, flags&libcuda.HostMapped != 0}
	*host = &memory[0]
	return libcuda.Success
}

func (g *GPU) memFreeHost(host *byte) libcuda.Result {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, r := g.here(); r != libcuda.Success {
		return r
	}
	block, ok := g.pinned[host]
	if !ok {
		return libcuda.InvalidValue
	}
	delete(g.pinned, host)
	fillBytes(block.memory, 0x5a) // who still reads it must notice
	return libcuda.Success
}

func fillBytes(memory []byte, with byte) {
	memory[0] = with
	for n := 1; n < len(memory); n *= 2 {
		copy(memory[n:], memory[:n])
	}
}

// hostAt returns n bytes of pinned memory, from address `host` on. It returns an error if these
// bytes are not pinned. The caller holds g.mu.
func (g *GPU) hostAt(host *byte, n uintptr) ([]byte, error) {
	for _, block := range g.pinned {
		memory := block.memory
		at := uintptr(unsafe.Pointer(host)) - uintptr(unsafe.Pointer(&memory[0]))
		if at < uintptr(len(memory)) && n <= uintptr(len(memory))-at {
			return memory[at : at+n], nil
		}
	}
	return nil, fmt.Errorf("%w: %d bytes of host memory that is not pinned", ErrAddress, n)
}
