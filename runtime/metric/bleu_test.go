package metric_test

import (
	"math"
	"testing"

	"github.com/burngen/burngen/runtime/metric"
)

func TestBLEU(t *testing.T) {
	m := metric.BLEU()
	check(t,
		example[metric.Texts]{m, one("a b c d", "a b c d"), 100},
		// 4/5, 3/4, 2/3, 1/2 of the sequences match.
		example[metric.Texts]{m, one("a b c d e", "a b c d f"), 100 * math.Pow(4./5*3/4*2/3*1/2, 0.25)},
		// All match, but two of six words are missing.
		example[metric.Texts]{m, one("a b c d", "a b c d e f"), 100 * math.Exp(1-6./4)},
		// The sequences of three and four words do not match: 1/2 and 1/4 of a match.
		example[metric.Texts]{m, one("a b x c d", "a b y c d"), 100 * math.Pow(4./5*2/4*(0.5/3)*(0.25/2), 0.25)},
		// There is no sequence of four words.
		example[metric.Texts]{m, one("a b c", "a b c"), 0},
		// The reference with three words is as close as that with five, and shorter.
		example[metric.Texts]{m, one("a b c d", "a b c d e", "a b c"), 100},
		// A word counts as often as in one reference.
		example[metric.Texts]{m, one("a a a a a", "a a a a", "a a a a b"), 100 * math.Pow(4./5*3/4*2/3*1/2, 0.25)},
		example[metric.Texts]{m, one("", "a"), 0},
		example[metric.Texts]{m, one("", ""), math.NaN()},
	)
}

// TestBLEUIsOfAllItems asserts that short items count, though they have no sequence of four words.
func TestBLEUIsOfAllItems(t *testing.T) {
	o := metric.Texts{Predicted: []string{"a", "a b c d"}, References: [][]string{{"a"}, {"a b c d"}}}
	if got := value(t, metric.BLEU(), o); !same(got, 100) {
		t.Errorf("BLEU %v, want 100", got)
	}
}
