package main

import (
	"context"
	"testing"

	"github.com/burngen/burngen/golden/corpus"
)

// learned trains, and returns a metric of the rows that were held out.
func learned(t *testing.T, p plan, rows []wine, metric string) float64 {
	t.Helper()
	run, err := p.train(context.Background(), nil, rows)
	if err != nil {
		t.Fatal(err)
	}
	r, ok := run.Result("valid " + metric)
	if !ok {
		t.Fatalf("no %s in\n%v", metric, run)
	}
	return float64(r.Last)
}

func TestLearnsMadeUpWines(t *testing.T) {
	rows, err := wines("")
	if err != nil {
		t.Fatal(err)
	}
	if testing.Short() {
		if r2 := learned(t, plan{epochs: 10, rate: 1e-2, seed: 42}, rows[:400], "R²"); !(r2 > 0.19) {
			t.Errorf("R² is %.3f", r2)
		}
		return
	}
	if rmse := learned(t, plan{epochs: 20, rate: 1e-2, seed: 42}, rows, "RMSE"); !(rmse < 0.5) { // the noise of made-up qualities is 0.4
		t.Errorf("the root mean square error is %.3f", rmse)
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
	if r2 := learned(t, plan{epochs: 20, rate: 1e-2, seed: 42}, rows, "R²"); !(r2 > 0.19) {
		t.Errorf("R² is %.3f", r2)
	}
}
