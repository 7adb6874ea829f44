// Package nn is for writing descriptions of models in Go: tensors, functions on them, layers, losses and control
// flow, with PyTorch's names.
//
// A [Value] is a node of a lazy graph. If all its operands have data, its data is computed on demand. So a
// description can run in a test or a small program, and be printed and differentiated ([Grad]), without burngen.
// While a method is recorded, values that depend on its inputs become part of the recording. In both cases, the
// operators of package op infer the types. They also compute the data.
//
// A mistake panics with an [*Error] that has the position of the caller's line. [Try] returns such a panic as an
// error. Axes are counted from 0, and negative axes from the end: −1 is the last axis.
//
// The package is not safe for use by several goroutines at once.
//
// The package does not know model files, passes or targets. The program that records a description calls [Main].
package nn
