// Package nn is what descriptions of models are written with: tensors, the functions
// on them, layers, losses and control flow, under the names that PyTorch has for
// them.
//
// A [Value] is a node of a lazy graph. Where its operands have data it has data, too,
// computed when somebody asks: a description can be tried in a test or a small
// program, printed and differentiated ([Grad]), without burngen. Where they are the
// inputs of a method that is recorded, it is what the recording says. One mechanism
// serves both: the operators of package op, which know their types and how to compute
// themselves.
//
// A mistake stops with an [*Error] that has the position of the caller's line;
// [Try] turns it into an error.
//
// Values are made one at a time: the package is for one goroutine.
//
// The package knows no file of a model, no pass and no target. The program that
// records a description ends in [Main].
package nn
