package metric_test

import (
	"math"
	"testing"

	"github.com/burngen/burngen/runtime/metric"
)

func TestLogLoss(t *testing.T) {
	for _, tt := range []struct {
		name   string
		scores []float32
		target int64
		kind   metric.ScoreKind
		want   float64
	}{
		{"equal logits", []float32{7, 7, 7, 7}, 2, metric.Logits, math.Log(4)},
		{"large logits", []float32{1000, 0}, 1, metric.Logits, 1000},
		{"masked classes", []float32{1, -inf, 1}, 0, metric.Logits, math.Log(2)},
		{"certain", []float32{inf, 0}, 0, metric.Logits, 0},
		{"impossible", []float32{0, -inf}, 1, metric.Logits, math.Inf(1)},
		{"all masked", []float32{-inf, -inf}, 1, metric.Logits, math.Log(2)},
		{"one large logit", []float32{-1000}, 1, metric.Logits, 1000},
		{"one infinite logit", []float32{inf}, 1, metric.Logits, 0},
		{"probability", []float32{0.25, 0.75}, 0, metric.Probabilities, math.Log(4)},
		{"probability 0", []float32{0, 1}, 0, metric.Probabilities, 23 * math.Ln2},
		{"one probability", []float32{0.75}, 0, metric.Probabilities, math.Log(4)},
	} {
		o := metric.Classes{Scores: tt.scores, Targets: []int64{tt.target}, Kind: tt.kind}
		if got := value(t, metric.LogLoss(), o); !same(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
