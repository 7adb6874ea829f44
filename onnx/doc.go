// Package onnx reads ONNX files into the IR. It resolves names, opsets, functions and external
// data. It passes each node to the import function of the node's operator, which is in package op.
// Package onnx itself does not know the meaning of any operator.
package onnx
