package cpu

import (
	"math"
	"testing"
)

func TestInverse(t *testing.T) {
	for name, c := range map[string]struct {
		x, want  []float64
		count, n int
	}{
		"of nothing":            {nil, nil, 0, 3},
		"of empty matrices":     {nil, nil, 3, 0},
		"of numbers":            {[]float64{4, -2}, []float64{0.25, -0.5}, 2, 1},
		"with rows exchanged":   {[]float64{0, 2, 1, 0}, []float64{0, 1, 0.5, 0}, 1, 2},
		"of a triangle":         {[]float64{1, 2, 3, 0, 1, 4, 0, 0, 2}, []float64{1, -2, 2.5, 0, 1, -2, 0, 0, 0.5}, 1, 3},
		"of several":            {[]float64{2, 0, 0, 4, 1, 1, 0, 1}, []float64{0.5, 0, 0, 0.25, 1, -1, 0, 1}, 2, 2},
		"beside a singular one": {[]float64{0, 2}, []float64{math.Inf(1), 0.5}, 2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			y := make([]float64, len(c.x))
			Inverse(y, c.x, make([]float64, 2*c.n*c.n), c.count, c.n)
			for i, v := range c.want {
				if y[i] != v {
					t.Errorf("element %d is %v, want %v", i, y[i], v)
				}
			}
			copy(y, c.x)
			Inverse(y, y, make([]float64, 2*c.n*c.n), c.count, c.n)
			for i, v := range c.want {
				if y[i] != v {
					t.Errorf("in place: element %d is %v, want %v", i, y[i], v)
				}
			}
		})
	}
}
