// Package kerneltest knows what the kernels of a target must compute: one test for each
// family, which every target and every variant of it passes. It compares with plain
// definitions in float64 and watches the memory around every operand. It knows nothing
// of how a target chooses a variant.
package kerneltest
