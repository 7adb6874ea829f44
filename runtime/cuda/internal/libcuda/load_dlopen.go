//go:build linux && !android && (amd64 || arm64)

package libcuda

import (
	"fmt"
	"os"
	"strings"

	"github.com/ebitengine/purego"
)

// libraries lists paths of the driver library. They are tried in this order. The system's loader
// finds the first one by its name. The other paths are for containers in which the loader does not
// find the library.
var libraries = []string{"libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1"}

// Load opens the library of the driver. It returns an error if there is no library or if it is too old.
func Load() (*API, error) {
	var first error
	for _, name := range libraries {
		library, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_GLOBAL)
		if err == nil {
			return Bind(func(function string) (uintptr, error) { return purego.Dlsym(library, function) })
		}
		if first == nil {
			first = err
		}
	}
	return nil, fmt.Errorf("the CUDA driver is not installed: %w", first)
}

// DriverRelease returns the release of the driver, such as "580.159.04", or "" if it is unknown.
func DriverRelease() string {
	release, err := os.ReadFile("/sys/module/nvidia/version")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(release))
}
