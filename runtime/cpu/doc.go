// Package cpu contains kernels that compute on tensors: products, convolutions, pooling,
// normalisation, reductions and pointwise functions. A few kernels compute on pictures of 8 bits.
// All of them work on slices that the caller provides.
// The package does not know graphs, files or memory plans. Kernels allocate memory only for errors,
// and for strings, sequences, optionals and maps that they create.
//
// # Layouts
//
// Tensors are dense and row-major unless a name says otherwise. A blocked tensor is
// f32[N][⌈C/16⌉][H][W][16]: channels in blocks of 16, zeros beyond C. A matrix in panels is
// f32[⌈N/16⌉][K][16]: columns in panels of 16, zeros beyond N. Layouts are the same on every
// processor. Weights files and memory plans are therefore the same too.
//
// # Levels
//
// Each kernel exists in plain Go. Important kernels also exist in assembly: AVX2 and AVX-512 on
// amd64, NEON on arm64. [Level] selects between them. The environment variable BURNGEN_CPU, set to
// generic, avx2, avx512, neon or simd128, selects a lower level than the machine's best. The build tag noasm
// omits the assembly. With the build tag simd128, a program for WebAssembly imports kernels with vectors from its
// host; see package [github.com/burngen/burngen/runtime/cpu/simd128].
//
// # Words
//
// A tile is a part of a result that a kernel computes in registers: a few rows, and the columns of
// one or a few panels. In products and convolutions, a strip is the columns of one tile of the
// largest width. A plane is one channel, or one block of channels, of one image. A tap is a position
// in a window. The suffix Ref marks the plain Go form of a kernel that also exists in assembly. A
// large call is divided into parts, which the workers of a pool compute; see [rt.Task].
//
// # Elementwise kernels
//
// Kernels such as [Add] and [Exp] take slices of equal length. dst may be the same slice as an
// operand of its type. If the name of a kernel contains Scalar, one operand is the same number for
// all elements; the order in the name is the order of the operands. Integers wrap. NaN equals
// nothing, and is neither less nor greater than anything. The result of a float function such as
// Exp is the float64 result of package math, rounded, unless its comment gives a rounding error.
// Rounding errors in ulp are those of float32 results.
//
// # Errors
//
// Sizes are a contract with the generated code. If a slice is shorter than its shape requires, a
// kernel panics before it reads or writes anything. No kernel accesses memory outside its slices.
// Kernels that can fail on data return an error.
package cpu
