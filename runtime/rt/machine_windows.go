package rt

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

type memoryStatus struct {
	length, load         uint32
	physical, available  uint64
	pageFile, freePage   uint64
	virtual, freeVirtual uint64
	freeExtended         uint64
}

func machineMemory() int64 {
	call := windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")
	if call.Find() != nil {
		return 0
	}
	status := memoryStatus{}
	status.length = uint32(unsafe.Sizeof(status))
	if ok, _, _ := call.Call(uintptr(unsafe.Pointer(&status))); ok == 0 {
		return 0
	}
	return int64(status.physical)
}
