// Package cost estimates the running time of CPU kernels on several kinds of processors, to choose
// between algorithms. It knows sizes and machines, but not the IR.
package cost
