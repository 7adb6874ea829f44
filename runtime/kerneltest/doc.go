// Package kerneltest tests kernels. It has one test for each family, which all variants on all
// processors must pass. It compares results with plain definitions in float64 and checks the memory
// around every operand. It does not know any target. Kernels get shapes that this package defines,
// and the tests of a target convert them.
package kerneltest
