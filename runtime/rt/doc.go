// Package rt is what every package that burngen generates links: weights and
// their file, element types that Go lacks, tensors, arenas, size arithmetic,
// checks of what callers pass, sessions, the worker pool, the version gate, the
// parameters of what is trained and the files that hold its state. It knows no
// operator and computes nothing of a network; kernels live in the packages beside it.
//
// Programs that use a generated package meet [Weights], [Tensor], [Max],
// [Threads], the element types, [ErrBusy] and [ErrClosed]; functions that compute
// custom operators meet [Call] and [Data], programs that train [Params], [SaveState]
// and [LoadState]. The rest is for generated code and for kernels.
//
// Nothing a caller of a generated package passes makes it panic: arguments are
// checked, sizes are computed in 64 bits with overflow noticed, and a panic of a
// kernel, in whatever goroutine, becomes the error that Forward returns.
package rt
