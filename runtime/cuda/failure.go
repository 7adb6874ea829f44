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

// errorName returns CUDA's name of an error, such as CUDA_ERROR_ILLEGAL_ADDRESS.
func errorName(api *libcuda.API, r libcuda.Result) string {
	var name *byte
	if api.GetErrorName(r, &name) != libcuda.Success || name == nil {
		return fmt.Sprintf("CUDA error %d", r)
	}
	return libcuda.Text(name)
}

// text returns the C string in b, up to its terminating zero byte or the end of b.
func text(b []byte) string {
	if end := bytes.IndexByte(b, 0); end >= 0 {
		b = b[:end]
	}
	return string(b)
}

// failed returns an error for a result. The format names the action. If the result means that the
// context is lost, the error wraps [gpu.ErrDeviceLost]. Later calls then return the first such
// error.
func (d *device) failed(r libcuda.Result, format string, args ...any) error {
	what, name := fmt.Sprintf(format, args...), errorName(d.api, r)
	if !r.IsSticky() {
		return fmt.Errorf("cuda: %s: %s", what, name)
	}
	err := fmt.Errorf("cuda: %s: %s: %w", what, name, gpu.ErrDeviceLost)
	d.lost.CompareAndSwap(nil, &err)
	return *d.lost.Load()
}

// noMemory returns the error of an allocation that exceeds the free device memory, or the error of
// asking for the amount of free memory. request describes the allocation.
func (d *device) noMemory(request string) error {
	var free, total uintptr
	if r := d.api.MemGetInfo(&free, &total); r != libcuda.Success {
		return d.failed(r, "free memory")
	}
	return fmt.Errorf("cuda: %w: %s, %d bytes of %d are free", gpu.ErrMemory, request, free, total)
}
