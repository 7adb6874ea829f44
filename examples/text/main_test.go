package main

import (
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/golden/corpus"
	"github.com/burngen/burngen/runtime/learn"
)

// loss returns the last loss on text that was held out.
func loss(t *testing.T, run *learn.Run) float64 {
	t.Helper()
	r, ok := run.Result("valid loss")
	if !ok {
		t.Fatalf("no validation in\n%v", run)
	}
	return float64(r.Last)
}

func TestLearnsSums(t *testing.T) {
	p, limit := plan{steps: 50, batch: 8, rate: 3e-3, seed: 42, target: firstTarget}, 2.8
	if testing.Short() {
		p.steps, p.batch, limit = 3, 2, 5.6 // the loss begins at log(256) = 5.55
	}
	m, run, err := p.train(context.Background(), nil, sums(5000))
	if err != nil {
		t.Fatal(err)
	}
	if l := loss(t, run); !(l < limit) || run.Stopped.Step != p.steps {
		t.Errorf("loss %.3f, %.3f allowed:\n%v", l, limit, run)
	}
	for _, prompt := range []string{"", "one and ", strings.Repeat("two and three is five.\n", 5)} {
		write := func() string {
			more, err := goOn(m, prompt, 2, rand.New(rand.NewPCG(1, 0)))
			if err != nil || len(more) != 2 {
				t.Fatalf("%q goes on with %q, %v", prompt, more, err)
			}
			return more
		}
		if a, b := write(), write(); a != b {
			t.Errorf("%q goes on with %q and %q", prompt, a, b)
		}
	}
}

// TestLearnsShakespeare trains on the text in the corpus.
func TestLearnsShakespeare(t *testing.T) {
	text, err := os.ReadFile(corpus.Path(t, "datasets/text/tinyshakespeare.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if testing.Short() {
		t.Skip("takes seconds")
	}
	_, run, err := plan{steps: 20, batch: 8, rate: 3e-3, seed: 42, target: firstTarget}.train(context.Background(), nil, string(text))
	if err != nil {
		t.Fatal(err)
	}
	if l := loss(t, run); !(l < 4) {
		t.Errorf("loss %.3f", l)
	}
}

func TestTooShortATextIsAnError(t *testing.T) {
	if _, _, err := (plan{steps: 1, batch: 1, rate: 1, seed: 1, target: firstTarget}).train(context.Background(), nil, "short"); err == nil {
		t.Error("no error")
	}
}

func TestSums(t *testing.T) {
	for line := range strings.Lines(sums(2000)) {
		w := strings.Fields(line)
		value := func(i int) int { return slices.Index(words, strings.Trim(w[i], ".")) }
		if len(w) != 5 || value(0) < 0 || value(2) < 0 || value(0)+value(2) != value(4) {
			t.Errorf("%q", line)
		}
	}
}

func TestDraw(t *testing.T) {
	var logits [256]float32
	for i := range logits {
		logits[i] = -1000
	}
	logits[7], logits[9] = 100, 100
	rng, count := rand.New(rand.NewPCG(1, 0)), map[int64]int{}
	for range 1000 {
		count[draw(logits, rng)]++
	}
	if len(count) != 2 || count[7] < 400 || count[9] < 400 {
		t.Errorf("%v", count)
	}
}
