package nvml

import (
	"testing"
	"unsafe"
)

// TestLayout compares structs with what a C compiler makes of NVML's header.
func TestLayout(t *testing.T) {
	var u Utilization
	var m Memory
	for name, c := range map[string][2]uintptr{
		"Utilization":        {unsafe.Sizeof(u), 8},
		"Utilization.GPU":    {unsafe.Offsetof(u.GPU), 0},
		"Utilization.Memory": {unsafe.Offsetof(u.Memory), 4},
		"Memory":             {unsafe.Sizeof(m), 24},
		"Memory.Total":       {unsafe.Offsetof(m.Total), 0},
		"Memory.Free":        {unsafe.Offsetof(m.Free), 8},
		"Memory.Used":        {unsafe.Offsetof(m.Used), 16},
		"Device":             {unsafe.Sizeof(Device(0)), unsafe.Sizeof(uintptr(0))},
		"Result":             {unsafe.Sizeof(Result(0)), 4},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %d, want %d", name, c[0], c[1])
		}
	}
}
