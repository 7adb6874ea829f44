// Package fake is the CUDA driver in Go, for tests on machines without a card. Package cuda runs on
// it as on the library. Kernels are run by a [Machine], an interpreter of PTX that the test brings.
//
// The fake is stricter than the library where that finds mistakes: accesses beyond an allocation
// fail, addresses of freed memory are not reused, fresh memory is not zero, asynchronous copies
// must be from and to pinned memory, and most functions must be called on a thread whose context
// was set. Its clock depends on the work only: a kernel takes a microsecond, and a copy a
// microsecond and a nanosecond for each 16 bytes.
package fake
