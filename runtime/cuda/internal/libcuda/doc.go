// Package libcuda has the functions of the CUDA driver, as Go functions, and finds the library that has
// them. It knows their signatures and constants. It does not know what they are called for.
package libcuda
