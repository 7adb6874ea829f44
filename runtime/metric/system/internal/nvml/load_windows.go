//go:build amd64 || arm64

package nvml

import (
	"fmt"

	"golang.org/x/sys/windows"
)

// Load opens the library. It returns an error if there is no library or if it is too old.
func Load() (*API, error) {
	library := windows.NewLazySystemDLL("nvml.dll")
	if err := library.Load(); err != nil {
		return nil, fmt.Errorf("the NVIDIA management library is not installed: %w", err)
	}
	return Bind(func(function string) (uintptr, error) {
		return windows.GetProcAddress(windows.Handle(library.Handle()), function)
	})
}
