// Package simd128 holds the kernels of level SIMD128 of package cpu, as a module of WebAssembly. It is not linked into
// programs that compute: their host instantiates the module.
//
// A program that is built for GOARCH=wasm with the build tag simd128 imports its kernels from a module with the name
// kernels. [Module] exports these functions, under the names that the program imports. The module itself imports a
// memory, which is the program's: the host passes it as "memory" of module "go". The memory exists only when the
// program is instantiated, so the host first gives the program functions that call the kernels, then instantiates
// the module, and then runs the program.
package simd128

import _ "embed"

// Module is the module in WebAssembly's binary format. It needs vector instructions, but not the relaxed ones.
// Callers must not change it.
//
//go:embed kernels.wasm
var Module []byte
