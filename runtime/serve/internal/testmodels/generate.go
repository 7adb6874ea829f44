// Package testmodels has generated packages for the tests of package serve.
package testmodels

//go:generate go -C ../../../.. run ./cmd/burngen examples/digits/digits.onnx -o runtime/serve/internal/testmodels/digits -serve -weights-keep raw
