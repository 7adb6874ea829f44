package cpu

import (
	"math"
	"math/rand/v2"
	"testing"
)

// laplace returns a determinant by expansion along the first row.
func laplace(a []float64, m int) (det float64) {
	if m == 0 {
		return 1
	}
	for j := range m {
		var minor []float64
		for i := 1; i < m; i++ {
			for k := range m {
				if k != j {
					minor = append(minor, a[i*m+k])
				}
			}
		}
		sign := 1 - 2*float64(j%2)
		det += sign * a[j] * laplace(minor, m-1)
	}
	return det
}

func TestDet(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for m := range 7 {
		a := draw(rng, 4*m*m)
		if m > 1 {
			copy(a[m:2*m], a[:m]) // the first is singular
			a[m*m] = 0            // the second needs a pivot
		}
		dst, narrow := make([]float64, 4), make([]float32, 4)
		Det(dst, a, make([]float64, m*m), m)
		Det(narrow, to[float32](a), make([]float64, m*m), m)
		for i := range dst {
			want := laplace(a[i*m*m:][:m*m], m)
			if math.Abs(dst[i]-want) > 1e-12 || math.Abs(float64(narrow[i])-want) > 1e-6 {
				t.Errorf("determinant of %d rows is %v and %v, want %v", m, dst[i], narrow[i], want)
			}
		}
	}
}
