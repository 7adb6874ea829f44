// Package kernels builds kernels with package ir/kernel, for the targets that run operators as
// kernels on a device. A function of the package knows how threads divide the work, and its
// arguments say what an operator computes. The package does not know any operator, device or
// machine language.
package kernels
