package metric_test

import (
	"math"
	"testing"

	"github.com/burngen/burngen/runtime/metric"
)

// TestPerplexity asserts that the mean is over tokens: two sequences, one of which is mostly padding.
func TestPerplexity(t *testing.T) {
	o := metric.Tokens{
		Scores:  []float32{0, 0, 0, 0, 0, 0, 9, -9, 9, -9, inf, nan}, // two sequences of three tokens
		Targets: []int64{0, 1, 0, 0, -100, -100},
		Ignore:  []int64{-100},
	}
	nll := (3*math.Log(2) + math.Log1p(math.Exp(-18))) / 4
	if got, want := value(t, metric.Perplexity(), o), math.Exp(nll); !same(got, want) {
		t.Errorf("perplexity %v, want %v", got, want)
	}
	if got := value(t, metric.TokenAccuracy(), o); got != 75 {
		t.Errorf("token accuracy %v, want 75", got)
	}
	c := metric.Perplexity().New()
	c.Add(metric.Tokens{Loss: 1, Targets: []int64{5, 6, 7, -100}, Ignore: []int64{-100}})
	c.Add(metric.Tokens{Loss: 3, Targets: []int64{5}})
	c.Add(metric.Tokens{Loss: nan, Targets: []int64{-100}, Ignore: []int64{-100}})
	if got, want := c.Value(), math.Exp((3*1+3)/4.); !same(got, want) {
		t.Errorf("perplexity of losses %v, want %v", got, want)
	}
}
