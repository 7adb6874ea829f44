// Package libcuda contains the functions of the CUDA driver as Go functions, with their signatures
// and constants. It also finds the driver's library. It does not know why the functions are called.
package libcuda
