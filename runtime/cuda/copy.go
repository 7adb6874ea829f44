package cuda

import (
	"runtime"

	"github.com/burngen/burngen/runtime/gpu"
)

// parallelBytes is the size in bytes from which a copy of host memory is shared with other
// goroutines.
const parallelBytes = 1 << 20

// copy copies host memory within a call of the device. [gpu.Copy] does a large copy; other
// goroutines can help only while this one is not locked to its thread. The goroutine is locked
// again afterwards, even if copy returns an error.
func (d *device) copy(to, from []byte) error {
	if len(from) < parallelBytes {
		copy(to, from)
		return nil
	}
	runtime.UnlockOSThread()
	gpu.Copy(to, from)
	return d.bind()
}
