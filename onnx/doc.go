// Package onnx reads ONNX files into the IR: it resolves names, opsets,
// functions and external data, and hands each node to the operator's import
// function in package op. It does not know what any operator means.
package onnx
