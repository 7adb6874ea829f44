package main

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/burngen/burngen/runtime/rt"
)

// size returns the number of digits to draw and the settings of the training.
func size() (n int, p plan) {
	if testing.Short() {
		return 20, plan{epochs: 2, rate: 1e-3, seed: 42, target: firstTarget}
	}
	return 300, plan{epochs: 4, rate: 1e-3, seed: 42, target: firstTarget}
}

var line = regexp.MustCompile(`^epoch +\d+  loss (\d+\.\d{4})  accuracy (\d+\.\d) %$`)

// curve returns the loss and the accuracy of each epoch from the lines that train wrote.
func curve(t *testing.T, text string) (loss, accuracy []float64) {
	t.Helper()
	for l := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		m := line.FindStringSubmatch(l)
		if m == nil {
			t.Fatalf("a line is %q", l)
		}
		x, _ := strconv.ParseFloat(m[1], 64)
		a, _ := strconv.ParseFloat(m[2], 64)
		loss, accuracy = append(loss, x), append(accuracy, a)
	}
	return loss, accuracy
}

func TestLearnsToReadDrawnDigits(t *testing.T) {
	n, p := size()
	images, labels, err := draw(n)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	trainer, err := p.train(&out, images, labels)
	if err != nil {
		t.Fatal(err)
	}
	loss, accuracy := curve(t, out.String())
	last := p.epochs - 1
	if len(loss) != p.epochs || !(loss[last] < loss[0]) || !testing.Short() && accuracy[last] < 80 {
		t.Errorf("it writes\n%s", &out)
	}
	item := 42 % n
	digit, err := infer(trainer.Model(), images[item])
	if err != nil || !testing.Short() && digit != labels[item] {
		t.Errorf("image %d is read as %d, %v, and shows %d", item, digit, err, labels[item])
	}
}

// TestThreadsDoNotMatter compares training with one thread and with two.
func TestThreadsDoNotMatter(t *testing.T) {
	n, p := size()
	images, labels, err := draw(n)
	if err != nil {
		t.Fatal(err)
	}
	digests := map[int]string{}
	for _, threads := range []int{1, 2} {
		defer rt.Threads(rt.Threads(threads))
		digests[threads] = train(t, p, images, labels)
	}
	if digests[1] != digests[2] {
		t.Error("two threads give other weights than one")
	}
}
