//go:build !(linux && !android && (amd64 || arm64))

package fake

import (
	"errors"

	"github.com/burngen/burngen/runtime/cuda/internal/libcuda"
)

// throughC returns an error: on this platform, purego cannot make C functions with these
// signatures.
func throughC(*libcuda.API) (*libcuda.API, error) {
	return nil, errors.New("fake: not a C library on this platform")
}
