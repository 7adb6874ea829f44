package metric

import (
	"math"
	"math/rand/v2"
	"testing"
)

// pairsOf returns a tally of n pairs that keeps at most limit of them.
func pairsOf(limit int, predicted, targets []float32) *pairs {
	p := newPairs()
	p.limit = limit
	if err := p.add(Values{Predicted: predicted, Targets: targets}); err != nil {
		panic(err)
	}
	return p
}

// TestSpearmanCells compares the value of cells with the exact one, also of parts that are merged and
// saved.
func TestSpearmanCells(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 20_000
	predicted, targets := make([]float32, n), make([]float32, n)
	for i := range targets {
		targets[i] = float32(rng.NormFloat64())
		predicted[i] = float32(math.Exp(float64(targets[i]) + rng.NormFloat64()))
	}
	want := pairsOf(n, predicted, targets).value()
	for _, tt := range []struct {
		name          string
		first, second int // limits
		cells         bool
	}{{"exact and exact", n, n, false}, {"cells and exact", n / 4, n, true}, {"exact and cells", n, n / 4, true}, {"cells and cells", n / 4, n / 4, true}} {
		t.Run(tt.name, func(t *testing.T) {
			a := pairsOf(tt.first, predicted[:n/2], targets[:n/2])
			b := pairsOf(tt.second, predicted[n/2:], targets[n/2:])
			if err := a.merge(b); err != nil {
				t.Fatal(err)
			}
			restored := newPairs()
			if err := restored.restore(a.numbers()); err != nil {
				t.Fatal(err)
			}
			for _, p := range []*pairs{a, restored} {
				bound := 0.0
				if tt.cells {
					bound = 5e-3
				}
				if got := p.value(); math.Abs(got-want) > bound+1e-12 || p.inCells() != tt.cells {
					t.Errorf("Spearman %v, want %v; cells: %t", got, want, p.inCells())
				}
			}
			if note := a.note(); (note == "exact") == tt.cells {
				t.Errorf("the text says %s", note)
			}
		})
	}
}

// TestSpearmanCellsAreExact has fewer distinct values than cells, some of them much more often than
// others.
func TestSpearmanCellsAreExact(t *testing.T) {
	var predicted, targets []float32
	for i := range 500 {
		predicted = append(predicted, float32(min(i%7, 3)))
		targets = append(targets, float32(max(i%11, 7)-i%2))
	}
	exact, inCells := pairsOf(len(targets), predicted, targets), pairsOf(len(targets)-1, predicted, targets)
	if got, want := inCells.value(), exact.value(); math.Abs(got-want) > 1e-12 || !inCells.inCells() {
		t.Errorf("Spearman %v in cells, %v exactly", got, want)
	}
}

// TestRanks has ties.
func TestRanks(t *testing.T) {
	got := ranks([]float64{3, 1, 3, 2, 3})
	for i, want := range []float64{4, 1, 4, 2, 4} {
		if got[i] != want {
			t.Errorf("ranks %v", got)
			break
		}
	}
}
