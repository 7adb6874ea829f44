// Package libcuda has the functions of the CUDA driver as Go functions, and finds the driver's
// library. It knows their signatures and constants. It does not know why they are called.
package libcuda
