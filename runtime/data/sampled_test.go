package data_test

import (
	"math"
	"slices"
	"testing"

	"github.com/burngen/burngen/runtime/data"
)

func TestSampled(t *testing.T) {
	for _, o := range []data.SampleOptions{
		{Seed: 1},
		{Seed: 1, WithoutReplacement: true},
		{Seed: 1, Weights: []float64{1, 2, 0, 4, 5}},
		{Seed: 1, Weights: []float64{1, 2, 0, 4, 5}, WithoutReplacement: true},
	} {
		for _, n := range []int{0, 1, 4, 23} {
			d := data.Sampled(numbers(5), n, o)
			list := items(t, d)
			laws(t, d, list)
			if len(list) != n {
				t.Errorf("%v: %d draws, want %d", o, len(list), n)
			}
			if o.Weights != nil && slices.Contains(list, 2) {
				t.Errorf("%v: an item of weight 0 is drawn", o)
			}
			if again := items(t, data.Sampled(numbers(5), n, o)); !slices.Equal(again, list) {
				t.Errorf("%v: %v, then %v", o, list, again)
			}
			other := o
			other.Seed++
			if n == 23 && slices.Equal(items(t, data.Sampled(numbers(5), n, other)), list) {
				t.Errorf("%v: another seed has the same draws", o)
			}
		}
	}
}

// TestDrawsAreUniform counts draws with replacement.
func TestDrawsAreUniform(t *testing.T) {
	draws := 1000000
	if testing.Short() {
		draws = 100000
	}
	const n = 40
	counts, pairs := make([]int, n), make([]int, n*n)
	last := 0
	for i, x := range items(t, data.Sampled(numbers(n), draws, data.SampleOptions{Seed: 7})) {
		counts[x]++
		if i%2 == 1 {
			pairs[last*n+x]++
		}
		last = x
	}
	wantUniform(t, "items", counts)
	wantUniform(t, "pairs", pairs)
}

// TestWithoutReplacement asserts that all items are drawn before any is drawn again.
func TestWithoutReplacement(t *testing.T) {
	weights := make([]float64, 30)
	for i := range weights {
		weights[i] = float64(1 + i%5)
	}
	for _, w := range [][]float64{nil, weights} {
		list := items(t, data.Sampled(numbers(30), 90, data.SampleOptions{Seed: 3, WithoutReplacement: true, Weights: w}))
		for round := range 3 {
			part := slices.Clone(list[30*round:][:30])
			if round > 0 && slices.Equal(part, list[:30]) {
				t.Errorf("round %d has the order of the first", round)
			}
			if slices.Sort(part); !slices.Equal(part, upTo(30)) {
				t.Errorf("round %d has %v", round, part)
			}
		}
	}
	shuffled := items(t, data.Shuffled(numbers(30), 3))
	if list := items(t, data.Sampled(numbers(30), 30, data.SampleOptions{Seed: 3, WithoutReplacement: true})); !slices.Equal(list, shuffled) {
		t.Errorf("all items are drawn as %v, want the order of Shuffled, %v", list, shuffled)
	}
}

// TestWeights compares the frequencies of draws with weights.
func TestWeights(t *testing.T) {
	weights := []float64{1, 0, 2, 3, 0, 0, 4, 6, 0}
	const draws = 160000
	var x float64
	counts := make([]int, len(weights))
	for _, i := range items(t, data.Sampled(numbers(len(weights)), draws, data.SampleOptions{Seed: 1, Weights: weights})) {
		counts[i]++
	}
	for i, w := range weights {
		expected := w / 16 * draws
		if w == 0 {
			if counts[i] > 0 {
				t.Errorf("item %d of weight 0 is drawn", i)
			}
			continue
		}
		x += (float64(counts[i]) - expected) * (float64(counts[i]) - expected) / expected
	}
	if x > 25 {
		t.Errorf("χ² is %.1f with 4 degrees of freedom: %v", x, counts)
	}
	// Without replacement, the first draw has the probabilities w/16, and the second one those of the
	// other weights: the item of weight 6 is among the first two with probability
	// 6/16 + Σ w/16·6/(16-w).
	want, first := 6./16, 0
	for _, w := range []float64{1, 2, 3, 4} {
		want += w / 16 * 6 / (16 - w)
	}
	const trials = 20000
	for seed := range uint64(trials) {
		if slices.Contains(items(t, data.Sampled(numbers(len(weights)), 2, data.SampleOptions{Seed: seed, Weights: weights, WithoutReplacement: true})), 7) {
			first++
		}
	}
	if got := float64(first) / trials; math.Abs(got-want) > 5*math.Sqrt(want*(1-want)/trials) {
		t.Errorf("the heaviest item is among two draws with frequency %.4f, want %.4f", got, want)
	}
}

func TestMistakesInSampled(t *testing.T) {
	for want, err := range map[string]error{
		"sampled: -1 draws of 3 items":                   data.Err(data.Sampled(numbers(3), -1, data.SampleOptions{})),
		"sampled: 2 draws of 0 items":                    data.Err(data.Sampled(numbers(0), 2, data.SampleOptions{})),
		"sampled: 1 weights for 3 items":                 data.Err(data.Sampled(numbers(3), 2, data.SampleOptions{Weights: []float64{1}})),
		"sampled: weight 1 is -1: at least 0 expected":   data.Err(data.Sampled(numbers(2), 2, data.SampleOptions{Weights: []float64{1, -1}})),
		"sampled: weight 0 is NaN: at least 0 expected":  data.Err(data.Sampled(numbers(1), 2, data.SampleOptions{Weights: []float64{math.NaN()}})),
		"sampled: weight 0 is +Inf: at least 0 expected": data.Err(data.Sampled(numbers(1), 2, data.SampleOptions{Weights: []float64{math.Inf(1)}})),
		"sampled: the weights sum up to 0":               data.Err(data.Sampled(numbers(2), 2, data.SampleOptions{Weights: []float64{0, 0}})),
		"sampled: the weights sum up to +Inf":            data.Err(data.Sampled(numbers(2), 2, data.SampleOptions{Weights: []float64{math.MaxFloat64, math.MaxFloat64}})),
		"<nil>":                                          data.Err(data.Sampled(numbers(0), 0, data.SampleOptions{})),
	} {
		wantError(t, err, want)
	}
	if data.Err(data.Sampled(numbers(2), math.MaxInt, data.SampleOptions{Weights: []float64{1, 1}, WithoutReplacement: true})) == nil {
		t.Error("as many draws are kept as fit an int")
	}
}
