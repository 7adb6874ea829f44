package main

import (
	"bytes"
	"os"
	"testing"
)

func TestTheFileIsFresh(t *testing.T) {
	want, err := stateDict("../../../digits/digits.onnx")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../digits.pt")
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("digits.pt is not what build writes: run go generate: %v", err)
	}
}
