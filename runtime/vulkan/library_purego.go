//go:build (linux && !android && !faketime && (amd64 || arm64 || loong64 || riscv64)) || (darwin && !ios && (amd64 || arm64)) || (windows && (amd64 || arm64))

package vulkan

import "github.com/ebitengine/purego"

// call calls a C function. An argument uintptr(unsafe.Pointer(p)) keeps *p alive and unmoved until
// the function call returns.
//
//go:uintptrescapes
func call(function uintptr, args ...uintptr) uintptr {
	r, _, _ := purego.SyscallN(function, args...)
	return r
}

// callback returns a C function that calls f. It cannot be freed.
func callback(f any) uintptr { return purego.NewCallback(f) }
