//go:build !(((linux && !android) || windows) && (amd64 || arm64))

package nvml

import (
	"fmt"
	"runtime"
)

// Load returns an error: there is no library for this platform.
func Load() (*API, error) {
	return nil, fmt.Errorf("there is no NVIDIA management library on %s/%s", runtime.GOOS, runtime.GOARCH)
}
