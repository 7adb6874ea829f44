//go:build !(((linux && !android) || windows) && (amd64 || arm64))

package libcuda

import (
	"fmt"
	"runtime"
)

// Bind returns an error: C functions cannot be called on this platform.
func Bind(func(name string) (uintptr, error)) (*API, error) { return Load() }

// Load returns an error: there is no CUDA driver for this platform.
func Load() (*API, error) {
	return nil, fmt.Errorf("there is no CUDA on %s/%s", runtime.GOOS, runtime.GOARCH)
}

// DriverRelease returns "": there is no driver.
func DriverRelease() string { return "" }
