package cuda

import (
	"runtime"

	"github.com/burngen/burngen/runtime/gpu"
)

// parallelBytes is a size in bytes. Copies of host memory of this size or more are divided among
// goroutines.
const parallelBytes = 1 << 20

// copy copies host memory. It is called between [device.enter] and leave, so that the goroutine is
// locked to its thread. For a large copy it unlocks the goroutine, so that other goroutines can
// help in [gpu.Copy], and then binds it to the device again. It returns the error of binding; even
// then, the bytes are copied and the goroutine is locked.
func (d *device) copy(to, from []byte) error {
	if len(from) < parallelBytes {
		copy(to, from)
		return nil
	}
	runtime.UnlockOSThread()
	gpu.Copy(to, from)
	return d.bind()
}
