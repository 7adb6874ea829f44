// Package kernel describes what a device computes: typed functions in SSA form that the threads of a
// grid run, with loops, branches, memory spaces and barriers. Kernels are built by a [Builder],
// printed and parsed as text, verified, and interpreted. The package does not know any operator,
// device or machine language.
package kernel
