package kerneltest

import (
	"fmt"
	"math"
	"testing"
)

// Channels tests kernels that compute with each channel of a blocked tensor, f32[n, ⌈c/16⌉, pixels, 16]. moments
// writes the mean and the population variance of each channel of x, [2, c]. sums writes for each channel the sums of
// g and of g·(x − mean), [2, c]. mix writes f0·g + f1·x + f2; factors, [3, c], has an f0, f1 and f2 for each channel.
func Channels(t *testing.T, moments func(dst, x []float32, n, c, pixels int), sums func(dst, g, x, means []float32, n, c, pixels int), mix func(dst, g, x, factors []float32, n, c, pixels int)) {
	for _, size := range [][3]int{{1, 1, 1}, {2, 16, 9}, {3, 17, 30}, {2, 40, 300}, {16, 5, 64}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			n, c, pixels := size[0], size[1], size[2]
			blocks := (c + 15) / 16
			r := NewRandom(uint32(c))
			g, x := r.Input(n*blocks*pixels*16, 0), r.Input(n*blocks*pixels*16, 3)
			means, factors := r.Input(c, 1), r.Input(3*c, 0)
			both, sum, mixed := NewSlice[float32](2*c, 0), NewSlice[float32](2*c, 5), NewSlice[float32](len(x.Data), 0)
			moments(both.Data, x.Data, n, c, pixels)
			sums(sum.Data, g.Data, x.Data, means.Data, n, c, pixels)
			mix(mixed.Data, g.Data, x.Data, factors.Data, n, c, pixels)
			for name, s := range map[string]*Slice[float32]{"g": g, "x": x, "means": means, "factors": factors, "moments": both, "sums": sum, "mixed": mixed} {
				s.Check(t, name)
			}
			want, largest := make([]float64, 4*c), make([]float64, 4*c)
			each := func(f func(channel, i int)) {
				for i := range x.Data {
					if channel := i/16/pixels%blocks*16 + i%16; channel < c {
						f(channel, i)
					}
				}
			}
			count := float64(n * pixels)
			add := func(at int, v float64) { want[at], largest[at] = want[at]+v, largest[at]+math.Abs(v) }
			each(func(channel, i int) {
				g, x := float64(g.Data[i]), float64(x.Data[i])
				add(channel, x/count)
				add(2*c+channel, g)
				add(3*c+channel, g*(x-float64(means.Data[channel])))
			})
			each(func(channel, i int) {
				d := float64(x.Data[i]) - want[channel]
				add(c+channel, d*d/count)
			})
			for i, got := range append(both.Data[:2*c:2*c], sum.Data...) {
				if math.Abs(float64(got)-want[i]) > 1e-5*(largest[i]+1e-6) {
					t.Errorf("sum %d of channel %d is %v, want %v", i/c, i%c, got, want[i])
				}
			}
			each(func(channel, i int) {
				var s Sum
				s.Add(factors.Data[channel], g.Data[i])
				s.Add(factors.Data[c+channel], x.Data[i])
				s.Add(factors.Data[2*c+channel], 1)
				if got := mixed.Data[i]; !s.Near(got) {
					t.Errorf("element %d is %v, want %v", i, got, s.Value)
				}
			})
		})
	}
	t.Run("a large mean", func(t *testing.T) {
		x := make([]float32, 16*1000)
		for i := range x {
			x[i] = 1000 + float32(i/16%2)
		}
		dst := make([]float32, 2)
		moments(dst, x, 1, 1, 1000)
		if dst[0] != 1000.5 || dst[1] != 0.25 {
			t.Errorf("mean and variance are %v", dst)
		}
	})
	t.Run("short slices", func(t *testing.T) {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		mix(make([]float32, 16), make([]float32, 16), make([]float32, 15), make([]float32, 3), 1, 1, 1)
	})
}
