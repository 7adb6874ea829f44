package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/golden/corpus"
)

// losses returns the losses in the output of train: on the training text and on the rest.
func losses(t *testing.T, out string) (own, other []float64) {
	t.Helper()
	for l := range strings.Lines(out) {
		var step int
		var x, y float64
		if _, err := fmt.Sscanf(l, "step %d  loss %g, on other text %g\n", &step, &x, &y); err != nil {
			t.Fatalf("a line is %q: %v", l, err)
		}
		own, other = append(own, x), append(other, y)
	}
	return own, other
}

func TestLearnsSums(t *testing.T) {
	p, limit := plan{steps: 50, batch: 8, rate: 3e-3, seed: 42, target: firstTarget}, 2.8
	if testing.Short() {
		p.steps, p.batch, limit = 3, 2, 5.6 // the loss begins at log(256) = 5.55
	}
	var out bytes.Buffer
	m, err := p.train(&out, sums(5000))
	if err != nil {
		t.Fatal(err)
	}
	own, other := losses(t, out.String())
	if len(own) != min(10, p.steps) || !(other[len(other)-1] < min(limit, other[0])) {
		t.Errorf("it writes\n%s", &out)
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
	var out bytes.Buffer
	if _, err := (plan{steps: 20, batch: 8, rate: 3e-3, seed: 42, target: firstTarget}).train(&out, string(text)); err != nil {
		t.Fatal(err)
	}
	if _, other := losses(t, out.String()); !(other[len(other)-1] < 4) {
		t.Errorf("it writes\n%s", &out)
	}
}

func TestTooShortATextIsAnError(t *testing.T) {
	if _, err := (plan{steps: 1, batch: 1, rate: 1, seed: 1, target: firstTarget}).train(new(bytes.Buffer), "short"); err == nil {
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
