// Package onnx reads ONNX files into the IR. It resolves names, opsets, functions and external
// data, and passes each node to the import function of its operator in package op. It does not know
// the meaning of any operator.
package onnx
