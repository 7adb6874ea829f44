package metric_test

import (
	"testing"

	"github.com/burngen/burngen/runtime/metric"
)

func TestROUGE(t *testing.T) {
	check(t,
		// Three of four words match, of the pairs one of three.
		example[metric.Texts]{metric.ROUGE(1), one("the cat sat down", "The cat, down there."), 0.75},
		example[metric.Texts]{metric.ROUGE(2), one("the cat sat down", "The cat, down there."), 1. / 3},
		example[metric.Texts]{metric.ROUGEL(), one("the cat sat down", "The cat, down there."), 0.75},
		example[metric.Texts]{metric.ROUGEL(), one("a b c", "c b a"), 1. / 3},
		// Of two references the better one counts: precision 1, recall 2/3.
		example[metric.Texts]{metric.ROUGE(1), one("a b", "x y", "a b c"), 0.8},
		example[metric.Texts]{metric.ROUGE(1), one("a a", "a"), 2. / 3},
		example[metric.Texts]{metric.ROUGE(1), one("", ""), 0},
	)
}
