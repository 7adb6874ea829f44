package metric_test

import (
	"math"
	"testing"

	"github.com/burngen/burngen/runtime/metric"
)

func TestErrorRates(t *testing.T) {
	check(t,
		example[metric.Texts]{metric.CER(), one("kitten", "sitting"), 300. / 7},
		example[metric.Texts]{metric.CER(), one("日本", "日本語"), 100. / 3},
		example[metric.Texts]{metric.CER(), one("", "ab"), 100},
		example[metric.Texts]{metric.CER(), one("abcd", "a"), 300},
		example[metric.Texts]{metric.CER(), one("a", ""), math.NaN()},
		example[metric.Texts]{metric.WER(), one("the cat sat", "the  cat is sitting"), 50},
		example[metric.Texts]{metric.WER(), one("a b", "c d e", "a b c"), 100. / 3},
	)
}

// TestRatesAreOfAllItems asserts that a rate is not the mean of items' rates.
func TestRatesAreOfAllItems(t *testing.T) {
	o := metric.Texts{Predicted: []string{"a", "abcdefghi"}, References: [][]string{{"b"}, {"abcdefghi"}}}
	if got := value(t, metric.CER(), o); got != 10 {
		t.Errorf("CER %v, want 10: one of ten characters is wrong", got)
	}
}
