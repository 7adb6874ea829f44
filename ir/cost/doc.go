// Package cost estimates how long the kernels of the CPU take on processors of
// several kinds, to choose between ways of computing the same. It knows sizes and
// machines; it does not know the IR.
package cost
