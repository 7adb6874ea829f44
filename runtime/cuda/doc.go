// Package cuda is the driver of package gpu for NVIDIA's cards. It opens the CUDA driver's library
// when it is first used, without cgo and without the CUDA toolkit. It runs on Linux and Windows. On
// other systems, and where the library is not installed, [Devices] returns an error that wraps
// [gpu.ErrNoDevice].
//
// Code is PTX. The driver's linker compiles it once for each card. The result is kept in the folder
// burngen/cuda of the user's cache, which may be deleted at any time. A module also has the method
// Log() string, which returns the compiler's messages: registers, spills, warnings.
//
// The package does not know any model, operator or kernel.
package cuda
