package cpu

import (
	"fmt"
	"testing"
)

func BenchmarkProductInteger(b *testing.B) {
	for _, s := range [][3]int{{128, 768, 768}, {128, 3072, 768}, {1, 768, 768}, {3136, 64, 64}, {196, 256, 256}, {14884, 96, 16}} {
		m, n, k := s[0], s[1], s[2]
		a, w := make([]uint8, m*k), make([]int8, ceil(n, 16)*16*k)
		dst := make([]uint8, m*n)
		sums := make([]int32, m*n)
		for _, l := range Levels() {
			b.Run(fmt.Sprintf("%dx%dx%d/%v", m, n, k, l), func(b *testing.B) {
				defer SetLevel(l)()
				for range b.N {
					ProductInteger(dst, a, w, nil, nil, []float64{0.01}, nil, nil, 1, 1, m, n, k, 0, 255)
				}
				b.ReportMetric(2*float64(m)*float64(n)*float64(k)*float64(b.N)/1e9/b.Elapsed().Seconds(), "GOP/s")
			})
			b.Run(fmt.Sprintf("sums %dx%dx%d/%v", m, n, k, l), func(b *testing.B) {
				defer SetLevel(l)()
				for range b.N {
					ProductInteger(sums, a, w, nil, nil, nil, nil, nil, 1, 1, m, n, k, 0, 0)
				}
				b.ReportMetric(2*float64(m)*float64(n)*float64(k)*float64(b.N)/1e9/b.Elapsed().Seconds(), "GOP/s")
			})
		}
	}
}
