package main

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/burngen/burngen/golden/corpus"
)

func TestLearnsMadeUpWines(t *testing.T) {
	rows, err := wines("")
	if err != nil {
		t.Fatal(err)
	}
	p, limit := plan{epochs: 20, rate: 1e-2, seed: 42}, 0.5 // the noise of made-up qualities is 0.4
	if testing.Short() {
		rows, p.epochs, limit = rows[:400], 10, 0.9*deviation(rows)
	}
	var out bytes.Buffer
	off, err := p.train(&out, rows)
	if err != nil {
		t.Fatal(err)
	}
	if !(off < limit) || strings.Count(out.String(), "\n") != 2+p.epochs/10 {
		t.Errorf("off by %.3f, %.3f allowed; it writes\n%s", off, limit, &out)
	}
}

// TestLearnsWines trains on the tables in the corpus.
func TestLearnsWines(t *testing.T) {
	rows, err := wines(corpus.Path(t, "datasets/wine/winequality-red.csv"))
	if err != nil || len(rows) != 1599 || rows[0].Features[10] != 9.4 || rows[0].Quality != 5 {
		t.Fatalf("%d wines, %v", len(rows), err)
	}
	if testing.Short() {
		t.Skip("reads the table only")
	}
	off, err := plan{epochs: 20, rate: 1e-2, seed: 42}.train(new(bytes.Buffer), rows)
	if err != nil || !(off < 0.9*deviation(rows)) {
		t.Errorf("off by %.3f, %v; the mean is off by %.3f", off, err, deviation(rows))
	}
}

func TestDeviation(t *testing.T) {
	if d := deviation([]wine{{Quality: 1}, {Quality: 2}, {Quality: 3}, {Quality: 6}}); math.Abs(d-math.Sqrt(3.5)) > 1e-9 {
		t.Errorf("%v", d)
	}
}
