// Package nvml has functions of NVML, NVIDIA's management library, as Go functions, and finds the
// library. The library comes with the driver. The package knows signatures and constants, from NVIDIA's
// NVML API Reference Guide. It does not know why the functions are called.
package nvml
