package main

import (
	"bytes"
	"os"
	"testing"
)

// TestModelsAreFresh asserts that the models that are committed are those that are written.
func TestModelsAreFresh(t *testing.T) {
	for path, model := range models {
		data, err := os.ReadFile("../../" + path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(data, model().Bytes()) {
			t.Errorf("%s differs: run go generate ./examples/custom", path)
		}
	}
}
