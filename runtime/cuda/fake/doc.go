// Package fake is the CUDA driver in Go, for tests on machines without a card. Package cuda runs on
// it as on the library. A [Machine], which the test provides, runs kernels: it is an interpreter of
// PTX.
//
// The fake is stricter than the library in order to find mistakes. Accesses beyond an allocation
// fail. Addresses of freed memory are not reused. New memory is not zero. Asynchronous copies must
// be from or to pinned memory. Most functions must be called on a thread whose context was set.
//
// The fake's clock depends only on the work. A kernel takes a microsecond. A copy takes a
// microsecond, and a nanosecond for each 16 bytes.
package fake
