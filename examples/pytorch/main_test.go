package main

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	onnx "github.com/burngen/burngen/examples/digits/model"
	"github.com/burngen/burngen/examples/pytorch/digits"
	"github.com/burngen/burngen/pytorch"
)

// drawn returns the pictures of examples/digits, whose names begin with the digit.
func drawn(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("../digits/drawn/*.png")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%d pictures, %v", len(paths), err)
	}
	return paths
}

func TestReadsDigits(t *testing.T) {
	saved := filepath.Join(t.TempDir(), "digits.safetensors")
	w, err := pytorch.Open("digits.pt")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := w.Save(saved); err != nil {
		t.Fatal(err)
	}
	for _, weights := range []string{"", "digits.pt", saved} {
		var out bytes.Buffer
		if err := read(&out, weights, drawn(t)); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			if want := fmt.Sprintf(": %c\n", line[0]); !strings.HasSuffix(line, want) {
				t.Errorf("weights %q: %s", weights, line)
			}
		}
	}
}

// TestComputesWhatTheONNXFileDoes compares with the package of the ONNX file, which has the same weights.
func TestComputesWhatTheONNXFileDoes(t *testing.T) {
	m, err := digits.Load()
	if err != nil {
		t.Fatal(err)
	}
	other, err := onnx.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range drawn(t) {
		var d digits.Image
		if err := fitFile(&d, path); err != nil {
			t.Fatal(err)
		}
		got, err := m.Forward([]digits.Image{d})
		if err != nil {
			t.Fatal(err)
		}
		want, err := other.Forward([]onnx.Image{onnx.Image(d)})
		if err != nil {
			t.Fatal(err)
		}
		for i := range want[0] {
			if math.Abs(float64(got[0][i]-want[0][i])) > 1e-3 {
				t.Errorf("%s: logit %d is %g, want %g", path, i, got[0][i], want[0][i])
			}
		}
	}
}

func TestOtherFiles(t *testing.T) {
	for _, weights := range []string{"none.pt", "none.safetensors"} {
		if err := read(new(bytes.Buffer), weights, nil); err == nil || !strings.Contains(err.Error(), weights) {
			t.Errorf("error %v", err)
		}
	}
	if err := read(new(bytes.Buffer), "", []string{"none.png"}); err == nil || !strings.Contains(err.Error(), "none.png") {
		t.Errorf("error %v", err)
	}
}
