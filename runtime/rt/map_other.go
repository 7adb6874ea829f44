//go:build !unix && !windows

package rt

import (
	"io"
	"os"
)

// mapFile reads the first size bytes of f, because this system has no file mapping. The function
// that it returns does nothing.
func mapFile(f *os.File, size int) ([]byte, func() error, error) {
	data, err := NewArena(int64(size))
	if err != nil {
		return nil, nil, err
	}
	if _, err := io.ReadFull(f, data); err != nil {
		return nil, nil, err
	}
	return data, func() error { return nil }, nil
}
