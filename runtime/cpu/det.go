package cpu

import "math"

// Det computes the determinant of each m×m matrix of src (ONNX Det). It uses elimination in float64
// with partial pivoting. scratch has m·m elements.
func Det[T Float](dst, src []T, scratch []float64, m int) {
	a := trim(scratch, volume(m, m))
	src = trim(src, volume(len(dst), m, m))
	for i := range dst {
		for k, v := range src[i*m*m:][:m*m] {
			a[k] = float64(v)
		}
		dst[i] = T(eliminate(a, m))
	}
}

// eliminate returns the determinant of a, an m×m matrix. It overwrites a.
func eliminate(a []float64, m int) float64 {
	det := 1.0
	for k := range m {
		row, top := a[k*m:][:m], k
		for i := k + 1; i < m; i++ {
			if math.Abs(a[i*m+k]) > math.Abs(a[top*m+k]) {
				top = i
			}
		}
		if top != k {
			det = -det
			for j, v := range a[top*m:][:m] {
				a[top*m+j], row[j] = row[j], v
			}
		}
		if det *= row[k]; row[k] == 0 {
			return det
		}
		for i := k + 1; i < m; i++ {
			below := a[i*m:][:m]
			f := below[k] / row[k]
			for j := k; j < m; j++ {
				below[j] -= float64(f * row[j])
			}
		}
	}
	return det
}
