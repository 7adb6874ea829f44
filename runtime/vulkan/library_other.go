//go:build !((linux && !android && !faketime && (amd64 || arm64 || loong64 || riscv64)) || (darwin && !ios && (amd64 || arm64)) || (windows && (amd64 || arm64)))

package vulkan

import (
	"fmt"
	"runtime"
)

func openLibrary() (uintptr, error) {
	return 0, fmt.Errorf("not supported on %s/%s", runtime.GOOS, runtime.GOARCH)
}

// call is never called on this platform, because openLibrary returns an error.
func call(function uintptr, args ...uintptr) uintptr { return 0 }
func callback(f any) uintptr                         { return 0 }
