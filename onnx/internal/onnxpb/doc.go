// Package onnxpb is the ONNX schema as protocol buffer messages. It writes ONNX files and checks the reader in
// onnx/internal/wire; it does not read the files that users bring, because protobuf copies every byte and bounds nothing.
package onnxpb

//go:generate go test -run TestGenerated -update
