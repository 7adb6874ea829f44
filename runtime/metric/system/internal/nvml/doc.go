// Package nvml finds NVML, NVIDIA's management library, and makes its functions callable from Go. The library comes
// with the driver. The package knows signatures and constants, from NVIDIA's NVML API Reference Guide. It does not
// know why the functions are called.
package nvml
