package main

import (
	"bytes"
	"os"
	"testing"
)

// TestModelIsFresh asserts that the model that is committed is the one that is written.
func TestModelIsFresh(t *testing.T) {
	data, err := os.ReadFile("../../beats.onnx")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(data, beats().Bytes()) {
		t.Error("beats.onnx differs: run go generate ./examples/custom")
	}
}
