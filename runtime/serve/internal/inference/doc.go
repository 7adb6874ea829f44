// Package inference has the messages and the service of the Open Inference Protocol over gRPC. They were generated
// from inference.proto by protoc-gen-go v1.36.12 and protoc-gen-go-grpc v1.6.2.
package inference

//go:generate protoc --proto_path=../../../.. --go_out=../../../.. --go_opt=paths=source_relative --go-grpc_out=../../../.. --go-grpc_opt=paths=source_relative runtime/serve/internal/inference/inference.proto
