//go:build ((linux && !android) || windows) && (amd64 || arm64)

package nvml

import (
	"fmt"

	"github.com/ebitengine/purego"
)

// Bind returns an API that calls C functions. `lookup` returns the address of the function with
// a given name. Bind returns an error if a function is missing.
func Bind(lookup func(name string) (uintptr, error)) (*API, error) {
	a := new(API)
	for _, f := range a.Functions() {
		address, err := lookup(f.Name)
		if err != nil || address == 0 {
			return nil, fmt.Errorf("the NVIDIA management library has no function %s: the driver is too old", f.Name)
		}
		purego.RegisterFunc(f.Go, address)
	}
	return a, nil
}
