package rt

import (
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// mapFile maps the first size bytes of f, read-only. It returns the memory, and a function that
// unmaps it.
func mapFile(f *os.File, size int) ([]byte, func() error, error) {
	mapping, err := windows.CreateFileMapping(windows.Handle(f.Fd()), nil, windows.PAGE_READONLY, 0, 0, nil)
	if err != nil {
		return nil, nil, err
	}
	defer windows.CloseHandle(mapping) // the view keeps it open
	at, err := windows.MapViewOfFile(mapping, windows.FILE_MAP_READ, 0, 0, uintptr(size))
	if err != nil {
		return nil, nil, err
	}
	data := unsafe.Slice(*(**byte)(unsafe.Pointer(&at)), size)
	return data, func() error { return windows.UnmapViewOfFile(at) }, nil
}
