package metric_test

import (
	"testing"

	"github.com/burngen/burngen/runtime/metric"
)

// TestTopK has ties, for which classes with lower numbers come first.
func TestTopK(t *testing.T) {
	o := metric.Classes{Scores: []float32{3, 3, 1, 3, 3, 1, 0, 0, 0}, Targets: []int64{0, 1, 2}}
	for k, want := range map[int]float64{1: 100. / 3, 2: 200. / 3, 3: 100, 9: 100} {
		if got := value(t, metric.TopK(k), o); !same(got, want) {
			t.Errorf("top %d: %v, want %v", k, got, want)
		}
	}
	if a, b := value(t, metric.TopK(1), o), value(t, metric.Accuracy(), o); a != b {
		t.Errorf("top 1 is %v, accuracy %v", a, b)
	}
	refuses(t, metric.TopK(0), o, "top-0 accuracy: the target among 0 classes: at least 1 expected")
}
