package cuda

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/burngen/burngen/runtime/cuda/internal/libcuda"
	"github.com/burngen/burngen/runtime/gpu"
)

var (
	errDeviceClosed = errors.New("cuda: the device is closed")
	errQueueClosed  = errors.New("cuda: the queue is closed")
	errModuleClosed = errors.New("cuda: the module is closed")
	errGraphClosed  = errors.New("cuda: the graph is closed")
)

// errorName returns CUDA's name of a result, such as CUDA_ERROR_ILLEGAL_ADDRESS.
func errorName(api *libcuda.API, r libcuda.Result) string {
	var name *byte
	if api.GetErrorName(r, &name) != libcuda.Success || name == nil {
		return fmt.Sprintf("CUDA error %d", r)
	}
	return libcuda.Text(name)
}

// text returns a C string without its end.
func text(b []byte) string {
	if end := bytes.IndexByte(b, 0); end >= 0 {
		b = b[:end]
	}
	return string(b)
}

// failed makes an error of a result, with what was done. If all later calls will fail too, the error
// wraps [gpu.ErrDeviceLost], and is what they return.
func (d *device) failed(r libcuda.Result, format string, args ...any) error {
	what, name := fmt.Sprintf(format, args...), errorName(d.api, r)
	if !r.IsSticky() {
		return fmt.Errorf("cuda: %s: %s", what, name)
	}
	err := fmt.Errorf("cuda: %s: %s: %w", what, name, gpu.ErrDeviceLost)
	d.lost.CompareAndSwap(nil, &err)
	return *d.lost.Load()
}

// noMemory is the error of an allocation for which there is not enough device memory.
func (d *device) noMemory(what string) error {
	var free, total uintptr
	if r := d.api.MemGetInfo(&free, &total); r != libcuda.Success {
		return d.failed(r, "free memory")
	}
	return fmt.Errorf("cuda: %w: %s, %d bytes of %d are free", gpu.ErrMemory, what, free, total)
}
