package learn

import (
	"math"
	"testing"
)

func TestPatience(t *testing.T) {
	nan := math.NaN()
	for _, tt := range []struct {
		name   string
		p      Patience
		values []float64
		end    int // number of values until it ends; 0: it does not
	}{
		{"falls", Patience{Times: 2}, []float64{5, 4, 3, 2}, 0},
		{"rises", Patience{Times: 2}, []float64{5, 6, 7}, 3},
		{"equal values are not better", Patience{Times: 2}, []float64{5, 5, 5}, 3},
		{"a better value begins anew", Patience{Times: 2}, []float64{5, 6, 4, 6, 6}, 5},
		{"compared with the best, not the last", Patience{Times: 2}, []float64{5, 9, 8}, 3},
		{"larger is better", Patience{Times: 2, Better: 1}, []float64{5, 6, 5, 5}, 4},
		{"once", Patience{Times: 1}, []float64{5, 6}, 2},
		{"little is not better", Patience{Times: 2, MinDelta: 0.5}, []float64{5, 4.6, 4.5}, 3},
		{"more than little is", Patience{Times: 2, MinDelta: 0.5}, []float64{5, 4.6, 4.4, 4}, 0},
		{"warmup", Patience{Times: 1, Warmup: 3}, []float64{5, 6, 7, 8}, 4},
		{"warmup counts the best", Patience{Times: 2, Warmup: 2}, []float64{5, 1, 2, 3}, 4},
		{"NaN is not better", Patience{Times: 2}, []float64{5, nan, nan}, 3},
		{"numbers are better than NaN", Patience{Times: 3}, []float64{nan, nan, 5, 6, 6}, 0},
	} {
		end := 0
		for i, v := range tt.values {
			if tt.p.Done(v) && end == 0 {
				end = i + 1
			}
		}
		if end != tt.end {
			t.Errorf("%s: ends after %d values, want %d", tt.name, end, tt.end)
		}
	}
}
