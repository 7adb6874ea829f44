package main

import (
	"bytes"
	"os"
	"testing"
)

// TestModelsAreFresh asserts that the committed models are up to date.
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
