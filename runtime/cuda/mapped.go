package cuda

import (
	"fmt"
	"unsafe"

	"github.com/burngen/burngen/runtime/cuda/internal/libcuda"
	"github.com/burngen/burngen/runtime/gpu"
)

// AllocMapped implements [gpu.Mapping]. Host and device share one space of addresses, so kernels use the address of the
// host.
func (d *device) AllocMapped(bytes int) ([]byte, gpu.Address, error) {
	if bytes < 1 {
		return nil, 0, fmt.Errorf("cuda: %d bytes of host memory", bytes)
	}
	if err := d.enter(); err != nil {
		return nil, 0, err
	}
	defer d.leave()
	memory, err := d.pin(bytes, libcuda.HostMapped)
	if err != nil {
		return nil, 0, err
	}
	at := gpu.Address(uintptr(unsafe.Pointer(&memory[0])))
	d.tables.Lock()
	defer d.tables.Unlock()
	d.mapped[at] = memory
	return memory, at, nil
}

// unmap frees the mapped memory at an address. It reports whether there is such memory.
func (d *device) unmap(at gpu.Address) bool {
	d.tables.Lock()
	memory, ok := d.mapped[at]
	delete(d.mapped, at)
	d.tables.Unlock()
	if ok {
		d.unpin(memory)
	}
	return ok
}
