package cuda

import (
	"runtime"

	"github.com/burngen/burngen/runtime/gpu"
)

// parallelBytes is the smallest copy of host memory for which a goroutine leaves its thread.
const parallelBytes = 1 << 20

// copy copies host memory within a call of the device. A large copy is done by [gpu.Copy]: other
// goroutines can help only while this one is not bound to its thread. Afterwards the goroutine is bound
// again, also if copy returns an error.
func (d *device) copy(to, from []byte) error {
	if len(from) < parallelBytes {
		copy(to, from)
		return nil
	}
	runtime.UnlockOSThread()
	gpu.Copy(to, from)
	return d.bind()
}
