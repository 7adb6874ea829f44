// Package kernels holds functions that build kernels with package ir/kernel, for the targets that
// run operators as kernels on a device. Their arguments fill in what an operator computes. It does
// not know any operator, device or machine language.
package kernels
