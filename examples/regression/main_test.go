package main

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/burngen/burngen/golden/corpus"
)

func TestLearnsMadeUpWines(t *testing.T) {
	features, quality, err := wines("")
	if err != nil {
		t.Fatal(err)
	}
	p, limit := plan{epochs: 20, rate: 1e-2, seed: 42}, 0.5 // the noise of made-up qualities is 0.4
	if testing.Short() {
		features, quality, p.epochs, limit = features[:400], quality[:400], 10, 0.9*deviation(quality)
	}
	var out bytes.Buffer
	off, err := p.train(&out, features, quality)
	if err != nil {
		t.Fatal(err)
	}
	if !(off < limit) || strings.Count(out.String(), "\n") != 2+p.epochs/10 {
		t.Errorf("off by %.3f, %.3f allowed; it writes\n%s", off, limit, &out)
	}
}

// TestLearnsWines trains on the tables in the corpus.
func TestLearnsWines(t *testing.T) {
	features, quality, err := wines(corpus.Path(t, "datasets/wine/winequality-red.csv"))
	if err != nil || len(features) != 1599 || features[0][10] != 9.4 || quality[0] != 5 {
		t.Fatalf("%d wines, %v", len(features), err)
	}
	if testing.Short() {
		t.Skip("reads the table only")
	}
	off, err := plan{epochs: 20, rate: 1e-2, seed: 42}.train(new(bytes.Buffer), features, quality)
	if err != nil || !(off < 0.9*deviation(quality)) {
		t.Errorf("off by %.3f, %v; the mean is off by %.3f", off, err, deviation(quality))
	}
}

func TestDeviation(t *testing.T) {
	if d := deviation([]float32{1, 2, 3, 6}); math.Abs(d-math.Sqrt(3.5)) > 1e-9 {
		t.Errorf("%v", d)
	}
}
