package metric_test

import (
	"testing"

	"github.com/burngen/burngen/runtime/metric"
)

func TestChrF(t *testing.T) {
	check(t,
		example[metric.Texts]{metric.ChrF(0), one("ab", "ab"), 100},
		// One character of two matches: precision and recall are 1/2. No pair matches. The mean is 1/4.
		example[metric.Texts]{metric.ChrF(0), one("ab", "ac"), 25},
		// Precision is 1. Recall is 2/4 of characters and 1/3 of pairs, on average 5/12.
		example[metric.Texts]{metric.ChrF(0), one("ab", "abcd"), 100 * 5 * (5. / 12) / (4 + 5./12)},
		example[metric.Texts]{metric.ChrF(0), one("a", "b", "a"), 100},
		example[metric.Texts]{metric.ChrF(0), one("a b", "ab"), 100},
		// Characters match, words do not: lengths 1 and 2 of characters, and 1 of words.
		example[metric.Texts]{metric.ChrF(1), one("ab", "a b"), 100 * 2. / 3},
		// The full stop is a word of its own.
		example[metric.Texts]{metric.ChrF(1), one("a.", "a ."), 100},
		example[metric.Texts]{metric.ChrF(0), one("", "a"), 0},
	)
}

// TestChrFWithoutReference asserts that sequences of a length that an item's reference does not have
// are not counted. Of characters 3 of 4 match, of pairs only the one of the second item counts.
func TestChrFWithoutReference(t *testing.T) {
	o := metric.Texts{Predicted: []string{"ab", "cd"}, References: [][]string{{"a"}, {"cd"}}}
	if got, want := value(t, metric.ChrF(0), o), 100*5*0.875/(4*0.875+1); !same(got, want) {
		t.Errorf("chrF %v, want %v", got, want)
	}
}
