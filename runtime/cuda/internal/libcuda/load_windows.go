//go:build amd64 || arm64

package libcuda

import (
	"fmt"

	"golang.org/x/sys/windows"
)

// Load opens the library of the driver. It returns an error if there is no library or if it is too old.
func Load() (*API, error) {
	library := windows.NewLazySystemDLL("nvcuda.dll")
	if err := library.Load(); err != nil {
		return nil, fmt.Errorf("the CUDA driver is not installed: %w", err)
	}
	return Bind(func(function string) (uintptr, error) {
		return windows.GetProcAddress(windows.Handle(library.Handle()), function)
	})
}

// DriverRelease returns "": the release of the driver is unknown.
func DriverRelease() string { return "" }
