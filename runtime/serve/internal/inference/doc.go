// Package inference has the messages and the service of the Open Inference Protocol over gRPC. protoc-gen-go v1.36.12
// and protoc-gen-go-grpc v1.6.2 write them from inference.proto.
package inference

//go:generate protoc --proto_path=../../../.. --go_out=../../../.. --go_opt=paths=source_relative --go-grpc_out=../../../.. --go-grpc_opt=paths=source_relative runtime/serve/internal/inference/inference.proto
