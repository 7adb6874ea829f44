package metric

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/burngen/burngen/runtime/rt"
)

// TestAUROCByHand counts pairs: of 2·3 pairs, 4 are in order and 1 is a tie.
func TestAUROCByHand(t *testing.T) {
	c := ranked{positive: []float64{0.9, 0.5}, negative: []float64{0.1, 0.5, 0.7}}
	if got, want := c.auroc(), 4.5/6; math.Abs(got-want) > 1e-15 {
		t.Errorf("AUROC %v, want %v", got, want)
	}
	// At 0.9 precision is 1; at 0.5, with the tie, it is 2/4. The recall grows by 1/2 at each.
	if got, want := c.auprc(), 0.75; got != want {
		t.Errorf("AUPRC %v, want %v", got, want)
	}
}

// series returns n scores, of which about a part are positive.
func series(rng *rand.Rand, n int, part float64) (scores []float64, positive []bool) {
	for range n {
		p := rng.Float64() < part
		s := rng.NormFloat64()
		if p {
			s += 1.5
		}
		scores, positive = append(scores, s), append(positive, p)
	}
	return scores, positive
}

// rankingOf returns a ranking of one class that keeps at most limit scores.
func rankingOf(limit int, scores []float64, positive []bool) *ranking {
	r := newRanking()
	r.limit = limit
	if len(scores) > 0 {
		r.fit(1)
	}
	for i, s := range scores {
		r.add(0, s, positive[i])
	}
	return r
}

// TestBins compares the values of bins with exact ones, for frequent and for rare positives.
func TestBins(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, part := range []float64{0.5, 0.01} {
		scores, positive := series(rng, 200_000, part)
		exact, binned := rankingOf(mostScores, scores, positive), rankingOf(100_000, scores, positive)
		if exact.binned() || !binned.binned() {
			t.Fatal("the limit has no effect")
		}
		if n := len(binned.classes[0].bins) / 2; n > allBins+1 || n < allBins/8 {
			t.Errorf("%d bins", n)
		}
		if c := binned.classes[0]; len(c.positive)+len(c.negative) > 0 {
			t.Error("scores are kept beside the bins")
		}
		got, want := binned.mean((*ranked).auroc), exact.mean((*ranked).auroc)
		if bound := binned.mean((*ranked).uncertain); math.Abs(got-want) > bound || bound > 1e-4 {
			t.Errorf("AUROC %v in bins, %v exactly, and the bound is %v", got, want, bound)
		}
		if got, want := binned.mean((*ranked).auprc), exact.mean((*ranked).auprc); math.Abs(got-want) > 2e-3 {
			t.Errorf("AUPRC %v in bins, %v exactly", got, want)
		}
		p, n := binned.classes[0].totals()
		if wantP, wantN := exact.classes[0].totals(); p != wantP || n != wantN {
			t.Errorf("%v positive and %v negative scores, want %v and %v", p, n, wantP, wantN)
		}
	}
}

// TestBinsAreExact asserts that bins lose nothing if there are fewer distinct scores than bins, and
// that merging and saving them does not either.
func TestBinsAreExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	scores, positive := series(rng, 3000, 0.3)
	for i, s := range scores {
		scores[i] = math.Round(8 * s)
	}
	// The first half has all positive scores: a shift of the other half would change the value.
	for i, at := 0, 0; i < len(positive); i++ {
		if positive[i] {
			positive[i], positive[at] = positive[at], positive[i]
			scores[i], scores[at] = scores[at], scores[i]
			at++
		}
	}
	want := rankingOf(mostScores, scores, positive).mean((*ranked).auroc)
	for _, tt := range []struct{ name, kinds string }{
		{"exact and exact", "ee"}, {"bins and exact", "be"}, {"exact and bins", "eb"}, {"bins and bins", "bb"}, {"nothing and bins", "0b"}, {"bins and nothing", "b0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			half := len(scores) / 2
			var parts []*ranking
			for i, kind := range tt.kinds {
				from, to := i*half, (i+1)*half
				switch {
				case strings.Contains(tt.kinds, "0") && kind != '0':
					from, to = 0, len(scores)
				case kind == '0':
					from, to = 0, 0
				}
				limit := mostScores
				if kind == 'b' {
					limit = half - 1 // all scores but one choose the bins
				}
				parts = append(parts, rankingOf(limit, scores[from:to], positive[from:to]))
			}
			if err := parts[0].merge(parts[1]); err != nil {
				t.Fatal(err)
			}
			restored := newRanking()
			if err := restored.restore(parts[0].numbers()); err != nil {
				t.Fatal(err)
			}
			for _, r := range []*ranking{parts[0], restored} {
				if got := r.mean((*ranked).auroc); math.Abs(got-want) > 1e-3 {
					t.Errorf("AUROC %v, want %v", got, want)
				}
				if got := r.kept(); (got == "exact") != (tt.kinds == "ee") {
					t.Errorf("the text says %s", got)
				}
				p, n := r.classes[0].totals()
				if p+n != float64(len(scores)) {
					t.Errorf("%v scores, want %d", p+n, len(scores))
				}
			}
		})
	}
}

// TestRankingText asserts that the text says how the value was computed.
func TestRankingText(t *testing.T) {
	c := AUROC().New().(*counter[Classes, *ranking])
	c.tally.limit = 3
	c.Add(Classes{Scores: []float32{0, 1, 2}, Targets: []int64{0, 0, 1}})
	if got := c.Text(); got != "1 (exact)" {
		t.Errorf("text %q", got)
	}
	c.Add(Classes{Scores: []float32{0, 0}, Targets: []int64{1, 0}})
	if got := c.Text(); got != "0.6667 (4 bins, ± 0.2)" { // of 6 pairs, 3 are in order and 2 are ties
		t.Errorf("text %q", got)
	}
	d := AUROC().New()
	w, err := rt.CollectState(map[string]rt.Stater{"a": c})
	if err == nil {
		err = rt.RestoreState(w, map[string]rt.Stater{"a": d})
	}
	if err != nil || math.Abs(d.Value()-4./6) > 1e-15 {
		t.Errorf("value %v of restored bins, error %v", d.Value(), err)
	}
}

// TestManyClasses asserts that memory is bounded with many classes: all share the limit.
func TestManyClasses(t *testing.T) {
	const classes = 100
	r := newRanking()
	r.limit = 100 * classes
	rng := rand.New(rand.NewPCG(5, 6))
	scores := make([]float32, classes)
	for range 300 {
		for i := range scores {
			scores[i] = float32(rng.NormFloat64())
		}
		target := rng.Int64N(classes)
		scores[target] += 2
		if err := r.addClasses(Classes{Scores: scores, Targets: []int64{target}}); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	for _, c := range r.classes {
		n += len(c.bins) + len(c.edges) + len(c.positive) + len(c.negative)
	}
	if n > 4*100*classes {
		t.Errorf("%d numbers are kept", n)
	}
	if v := r.mean((*ranked).auroc); !(v > 0.7 && v < 1) {
		t.Errorf("AUROC %v", v)
	}
}
