package metric_test

import (
	"math"
	"testing"

	"github.com/burngen/burngen/runtime/metric"
)

func TestTextsChecks(t *testing.T) {
	right := metric.Texts{Predicted: []string{"a"}, References: [][]string{{"a"}}}
	for _, m := range textMetrics {
		fails(t, m, metric.Texts{Predicted: []string{"a", "b"}, References: [][]string{{"a"}, {}}}, right, m.Name+": item 1: no reference")
		fails(t, m, metric.Texts{Predicted: []string{"a", "b"}, References: [][]string{{"a"}}}, right,
			m.Name+": 2 predictions and references of 1 items: as many expected")
	}
	refuses(t, metric.ROUGE(0), right, "ROUGE-0: sequences of 0 words: at least 1 expected")
	refuses(t, metric.ChrF(-1), right, "chrF2: sequences of up to -1 words: 0 to 9 expected")
	refuses(t, metric.ChrF(10), right, "chrF2+++++++++: sequences of up to 10 words: 0 to 9 expected")
	if loss, items := (metric.Texts{Loss: 3, Predicted: []string{"a", "b"}}).Lost(); loss != 3 || items != 2 {
		t.Errorf("loss %v of %d items", loss, items)
	}
}

// one returns an output of one item.
func one(predicted string, references ...string) metric.Texts {
	return metric.Texts{Predicted: []string{predicted}, References: [][]string{references}}
}

// TestTextsByHand computes scores by hand.
func TestTextsByHand(t *testing.T) {
	for _, tt := range []struct {
		m    metric.Metric[metric.Texts]
		o    metric.Texts
		want float64
	}{
		{metric.BLEU(), one("a b c d", "a b c d"), 100},
		// 4/5, 3/4, 2/3, 1/2 of the sequences match.
		{metric.BLEU(), one("a b c d e", "a b c d f"), 100 * math.Pow(4./5*3/4*2/3*1/2, 0.25)},
		// All match, but two of six words are missing.
		{metric.BLEU(), one("a b c d", "a b c d e f"), 100 * math.Exp(1-6./4)},
		// The sequences of three and four words do not match: 1/2 and 1/4 of a match.
		{metric.BLEU(), one("a b x c d", "a b y c d"), 100 * math.Pow(4./5*2/4*(0.5/3)*(0.25/2), 0.25)},
		// There is no sequence of four words.
		{metric.BLEU(), one("a b c", "a b c"), 0},
		// The reference with five words is as close as that with three.
		{metric.BLEU(), one("a b c d", "a b c", "a b c d e"), 100},
		{metric.BLEU(), one("", "a"), 0},
		{metric.BLEU(), one("", ""), math.NaN()},
		{metric.ChrF(0), one("ab", "ab"), 100},
		// One character of two matches: precision and recall 1/2; no pair of two. The mean is 1/4.
		{metric.ChrF(0), one("ab", "ac"), 25},
		// Precision is 1. Recall is 2/4 of characters and 1/3 of pairs, on average 5/12.
		{metric.ChrF(0), one("ab", "abcd"), 100 * 5 * (5. / 12) / (4 + 5./12)},
		{metric.ChrF(0), one("a", "b", "a"), 100},
		{metric.ChrF(0), one("a b", "ab"), 100},
		{metric.ChrF(0), one("", "a"), 0},
		// Three of four words match, of the pairs one of three.
		{metric.ROUGE(1), one("the cat sat down", "The cat, down there."), 0.75},
		{metric.ROUGE(2), one("the cat sat down", "The cat, down there."), 1. / 3},
		{metric.ROUGEL(), one("the cat sat down", "The cat, down there."), 0.75},
		{metric.ROUGEL(), one("a b c", "c b a"), 1. / 3},
		{metric.ROUGE(1), one("", ""), 0},
		{metric.CER(), one("kitten", "sitting"), 300. / 7},
		{metric.CER(), one("日本", "日本語"), 100. / 3},
		{metric.CER(), one("", "ab"), 100},
		{metric.CER(), one("abcd", "a"), 300},
		{metric.CER(), one("a", ""), math.NaN()},
		{metric.WER(), one("the cat sat", "the  cat is sitting"), 50},
		{metric.WER(), one("a b", "c d e", "a b c"), 100. / 3},
	} {
		if got := value(t, tt.m, tt.o); !same(got, tt.want) {
			t.Errorf("%s of %q: %v, want %v", tt.m.Name, tt.o.Predicted, got, tt.want)
		}
	}
}

// TestRatesAreOfAllItems asserts that a rate is not the mean of items' rates.
func TestRatesAreOfAllItems(t *testing.T) {
	o := metric.Texts{Predicted: []string{"a", "abcdefghi"}, References: [][]string{{"b"}, {"abcdefghi"}}}
	if got := value(t, metric.CER(), o); got != 10 {
		t.Errorf("CER %v, want 10: one of ten characters is wrong", got)
	}
}
