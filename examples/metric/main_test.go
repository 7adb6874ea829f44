package main

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/burngen/burngen/runtime/metric"
)

func TestSure(t *testing.T) {
	c := sure().New()
	if !math.IsNaN(c.Value()) {
		t.Errorf("without items it is %v", c.Value())
	}
	// Probabilities of the right classes: 0.95, 0.05, 0.88.
	c.Add(metric.Classes{Scores: []float32{3, 0, 3, 0}, Targets: []int64{0, 1}})
	c.Add(metric.Classes{Scores: []float32{0, 2}, Targets: []int64{1}})
	if got := c.Value(); math.Abs(got-100.0/3) > 1e-12 {
		t.Errorf("it is %v, want a third", got)
	}
}

func TestTrain(t *testing.T) {
	run, err := train(context.Background(), 12)
	if err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(strings.Fields(run.String()), " "); !strings.Contains(text, "train sure 100 % 100 %") {
		t.Errorf("got %s", text)
	}
}
