// Package kerneltest tests kernels. It has one test for each family of kernels. All variants of the
// family, on all processors, must pass it. It compares results with plain definitions in float64
// and checks the memory around every operand. It does not know any target. Kernels get shapes that
// this package defines, and the tests of a target convert them.
package kerneltest
