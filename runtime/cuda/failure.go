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

// errorName returns CUDA's name for r, such as CUDA_ERROR_ILLEGAL_ADDRESS.
func errorName(api *libcuda.API, r libcuda.Result) string {
	var name *byte
	if api.GetErrorName(r, &name) != libcuda.Success || name == nil {
		return fmt.Sprintf("CUDA error %d", r)
	}
	return libcuda.Text(name)
}

func text(b []byte) string {
	if end := bytes.IndexByte(b, 0); end >= 0 {
		b = b[:end]
	}
	return string(b)
}

// failed returns the error for result r. format and args describe the failed action. If r means
// that the context is lost, failed returns the error of the first failure that lost it, which wraps
// [gpu.ErrDeviceLost].
func (d *device) failed(r libcuda.Result, format string, args ...any) error {
	what, name := fmt.Sprintf(format, args...), errorName(d.api, r)
	if !r.IsSticky() {
		return fmt.Errorf("cuda: %s: %s", what, name)
	}
	err := fmt.Errorf("cuda: %s: %s: %w", what, name, gpu.ErrDeviceLost)
	d.lost.CompareAndSwap(nil, &err)
	return *d.lost.Load()
}

// noMemory returns the error for an allocation that is larger than the free device memory. request
// describes the allocation.
func (d *device) noMemory(request string) error {
	var free, total uintptr
	if r := d.api.MemGetInfo(&free, &total); r != libcuda.Success {
		return d.failed(r, "free memory")
	}
	return fmt.Errorf("cuda: %w: %s, %d bytes of %d are free", gpu.ErrMemory, request, free, total)
}
