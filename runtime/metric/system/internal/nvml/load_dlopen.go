//go:build linux && !android && (amd64 || arm64)

package nvml

import (
	"errors"
	"fmt"

	"github.com/ebitengine/purego"
)

// Load opens the library. It returns an error if there is no library or if it is too old.
func Load() (*API, error) {
	// The system's loader finds the first one. The others are its paths in containers and in Windows'
	// Linux, whose loaders do not know them.
	return open("libnvidia-ml.so.1", "/usr/local/nvidia/lib64/libnvidia-ml.so.1", "/usr/lib/wsl/lib/libnvidia-ml.so.1")
}

// open opens the first of the libraries that is installed.
func open(names ...string) (*API, error) {
	var errs []error
	for _, name := range names {
		library, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err == nil {
			return Bind(func(function string) (uintptr, error) { return purego.Dlsym(library, function) })
		}
		errs = append(errs, err)
	}
	return nil, fmt.Errorf("the NVIDIA management library is not installed: %w", errors.Join(errs...))
}
