package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestTellsSpiralsApart(t *testing.T) {
	epochs, least := 40, 0.97
	if testing.Short() {
		epochs, least = 10, 0.7
	}
	var out bytes.Buffer
	m, err := train(&out, epochs, 5e-3)
	if err != nil {
		t.Fatal(err)
	}
	points, spirals := draw(600)
	logits, err := m.Forward(points)
	if err != nil {
		t.Fatal(err)
	}
	right := 0.
	for i, l := range logits {
		if (l[1] > l[0]) == (spirals[i] == 1) {
			right++
		}
	}
	if share := right / float64(len(points)); share < least || strings.Count(out.String(), "\n") != epochs/10 {
		t.Errorf("%.3f of the points are right; it writes\n%s", share, &out)
	}
	out.Reset()
	if err := show(&out, m); err != nil {
		t.Fatal(err)
	}
	if picture := out.String(); strings.Count(picture, "\n") != 30 || strings.Count(picture, "█") < 300 || strings.Count(picture, "·") < 300 {
		t.Errorf("it shows\n%s", picture)
	}
}
