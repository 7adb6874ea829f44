//go:build unix

package rt

import (
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps the first size bytes of f, private and read-only. It returns the memory, and a
// function that unmaps it.
func mapFile(f *os.File, size int) ([]byte, func() error, error) {
	data, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return nil, nil, err
	}
	return data, func() error { return unix.Munmap(data) }, nil
}
