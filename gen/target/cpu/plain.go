package cpu

import (
	"sync"

	"github.com/burngen/burngen/runtime/cpu"
)

// plain counts the callers that need plain Go kernels. The choice between plain Go and assembly is global to the
// process.
var plain struct {
	sync.Mutex
	users   int
	restore func()
}

// Plain makes the target use the plain Go kernels, which give the same bits on every machine. The
// target uses them until every caller of Plain has called restore.
func (Target) Plain() (restore func()) {
	plain.Lock()
	defer plain.Unlock()
	if plain.users++; plain.users == 1 {
		plain.restore = cpu.SetLevel(cpu.Generic)
	}
	return func() {
		plain.Lock()
		defer plain.Unlock()
		if plain.users--; plain.users == 0 {
			plain.restore()
		}
	}
}
