// Package cpu knows how to compute with tensors on a CPU: products, convolutions,
// pooling, normalisation, reductions and pointwise functions on slices that the caller
// has planned. It knows nothing of graphs, files or memory: no kernel allocates, but
// those that make strings, sequences and optionals.
//
// # Layouts
//
// Tensors are dense and row-major unless a name says otherwise. A blocked tensor is
// f32[N][⌈C/16⌉][H][W][16]: channels in blocks of 16, those beyond C zero. A matrix in
// panels is f32[⌈N/16⌉][K][16]: columns in panels of 16, those beyond N zero. Both are
// the same on every processor, so that a weights file and a memory plan are too.
//
// # Levels
//
// Each kernel exists in plain Go, and those that matter also in assembly: AVX2 and
// AVX-512 on amd64, NEON on arm64. [Level] says which run; the environment variable
// BURNGEN_CPU set to generic, avx2, avx512 or neon chooses a lower one than the
// machine's best. The build tag noasm leaves the assembly out.
//
// # Errors
//
// Sizes are a contract with the generated code. A slice that is shorter than its shape
// needs makes a kernel panic before it reads or writes anything; no kernel touches
// memory outside its slices. Kernels that can fail on data return an error.
package cpu
