package cuda

import (
	"runtime"

	"github.com/burngen/burngen/runtime/gpu"
)

// parallelBytes is the size from which on other goroutines help to copy host memory.
const parallelBytes = 1 << 20

// copy copies host memory within a call of the device. Other goroutines can help only while this one is
// not bound to its thread.
func (d *device) copy(to, from []byte) error {
	if len(from) < parallelBytes {
		copy(to, from)
		return nil
	}
	runtime.UnlockOSThread()
	gpu.Copy(to, from)
	return d.bind()
}
