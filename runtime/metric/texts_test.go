package metric_test

import (
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
