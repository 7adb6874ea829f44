//go:build simd128 && !noasm

package cpu

// Levels lists the levels of the program's host. A host that cannot compile the kernels of SIMD128 sets BURNGEN_CPU to
// generic.
func Levels() []Level { return []Level{Generic, SIMD128} }
