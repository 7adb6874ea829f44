// Package onnxpb contains the ONNX schema as protocol buffer messages. It is used to write ONNX
// files and to check the reader in onnx/internal/wire. It does not read users' files, because
// protobuf copies all data and has no limits.
package onnxpb

//go:generate go test -run TestGenerated -update
