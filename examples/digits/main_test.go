package main

import (
	"io/fs"
	"math"
	"strings"
	"testing"

	model "github.com/burngen/burngen/examples/digits/model/auto"
)

func TestReadsEveryDrawnDigit(t *testing.T) {
	names, err := fs.Glob(drawn, "drawn/*.png")
	if err != nil || len(names) < 10 {
		t.Fatalf("%d pictures: %v", len(names), err)
	}
	answers, err := read(names, drawn.Open)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range answers {
		if want := int(a.name[0] - '0'); a.digit != want {
			t.Errorf("%s reads as %d: %.2f", a.name, a.digit, a.probabilities)
		}
	}
}

func TestReadNamesTheBadPicture(t *testing.T) {
	for _, name := range []string{"missing.png", "drawn"} {
		if _, err := read([]string{name}, drawn.Open); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error %v does not name it", name, err)
		}
	}
}

func TestSoftmax(t *testing.T) {
	digit, p := softmax(model.Logits{3: 1000, 7: 1000 + float32(math.Ln2)})
	if digit != 7 || math.Abs(p[7]-2./3) > 1e-4 || math.Abs(p[3]-1./3) > 1e-4 || p[0] != 0 {
		t.Errorf("digit %d, probabilities %v", digit, p)
	}
}
