// Package nn is for writing descriptions of models in Go: tensors, functions on them, layers,
// losses and control flow, with PyTorch's names.
//
// A [Value] is a node of a lazy graph. If its operands have data, its data is computed on demand: a
// description can run in a test or a small program, be printed and differentiated ([Grad]), without
// burngen. If its operands are the inputs of a method that is being recorded, it becomes part of
// the recording. Both use the operators of package op, which know their types and how to compute
// themselves.
//
// A mistake panics with an [*Error] that has the position of the caller's line; [Try] turns it into
// an error. Axes are counted from 0, and negative axes from the end: −1 is the last axis.
//
// The package is not safe for use by several goroutines at once.
//
// The package does not know model files, passes or targets. The program that records a description
// calls [Main].
package nn
