package cpu

import (
	"math"
	"slices"
	"testing"

	"github.com/burngen/burngen/runtime/rt"
)

// noise returns n numbers between −1 and 1.
func noise(n int, seed uint32) []float32 {
	s := make([]float32, n)
	for i := range s {
		s[i] = float32(rt.Hash(seed, uint32(i))>>8)/(1<<23) - 1
	}
	return s
}

func TestGridSampleInParts(t *testing.T) {
	const n, c = 2, 5
	in, out := []int{17, 33}, []int{40, 51}
	src, grid := noise(n*c*17*33, 1), noise(n*40*51*2, 2)
	for i := range grid {
		grid[i] *= 1.3
	}
	for _, cubic := range []bool{false, true} {
		taps := 2
		if cubic {
			taps = 4
		}
		got, want := make([]float32, n*c*40*51), make([]float32, n*c*40*51)
		GridSample(got, src, grid, n, c, in, out, cubic, "reflection", false)
		task := gridSample{newGridShape(n, c, in, out, taps, "reflection", false), want, src, grid}
		for i := range 7 {
			task.Part(i, 7)
		}
		if !slices.Equal(got, want) {
			t.Errorf("cubic %v: parts give other numbers", cubic)
		}
	}
}

func TestGridSampleOfOddPlaces(t *testing.T) {
	src := []float32{1, 2, 4}
	odd := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 3e38, -3e38}
	for padding, want := range map[string][]float32{
		"zeros":  {0, 0, 0, 0, 0},
		"border": {1, 4, 1, 4, 1},
	} {
		for name, sample := range map[string]func(dst []float32){
			"linear":  func(dst []float32) { GridSample(dst, src, odd, 1, 1, []int{3}, []int{5}, false, padding, true) },
			"cubic":   func(dst []float32) { GridSample(dst, src, odd, 1, 1, []int{3}, []int{5}, true, padding, true) },
			"nearest": func(dst []float32) { GridNearest(dst, src, odd, 1, 1, []int{3}, []int{5}, padding, true) },
		} {
			dst := make([]float32, 5)
			if sample(dst); !slices.Equal(dst, want) {
				t.Errorf("%s, %s: %v, want %v", padding, name, dst, want)
			}
		}
	}
}

func TestSamplersPanicBeforeTheyWrite(t *testing.T) {
	ones := []int{1, 1}
	for name, f := range map[string]func(dst []float32){
		"GridSample":  func(dst []float32) { GridSample(dst, dst, dst, 1, 1, []int{2, 2}, []int{2, 2}, false, "zeros", true) },
		"GridNearest": func(dst []float32) { GridNearest(dst, dst, dst, 1, 1, []int{2, 2}, []int{2, 2}, "zeros", true) },
		"RoiAlign":    func(dst []float32) { _ = RoiAlign(dst, dst, dst, []int64{0, 0}, 1, 1, 1, 1, 2, 2, 0, 1, true, false) },
		"DeformColumns": func(dst []float32) {
			DeformColumns(dst, dst, dst, nil, 1, 1, 1, []int{2, 2}, []int{2, 2}, ones, ones, ones, ones)
		},
		"ConvDirect": func(dst []float32) {
			ConvDirect(dst, dst, dst, nil, 1, 1, 1, 1, []int{2, 2}, []int{2, 2}, ones, ones, ones, make([]int, 4))
		},
		"MaxPoolDirect": func(dst []float32) {
			MaxPoolDirect(dst, dst, 1, []int{2, 2}, []int{2, 2}, ones, ones, ones, make([]int, 4))
		},
		"AveragePoolDirect": func(dst []float32) {
			AveragePoolDirect(dst, dst, 1, []int{2, 2}, []int{2, 2}, ones, ones, ones, make([]int, 4), true)
		},
		"Col2Im": func(dst []float32) {
			_ = Col2Im(dst, dst, 1, 1, 4, []int{2, 2}, ones, ones, ones, make([]int, 4))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dst := []float32{7, 7, 7}
			defer func() {
				if recover() == nil {
					t.Error("a slice that is too short is not a panic")
				}
				if !slices.Equal(dst, []float32{7, 7, 7}) {
					t.Errorf("written: %v", dst)
				}
			}()
			f(dst)
		})
	}
}

func BenchmarkGridSample(b *testing.B) {
	src, grid := noise(256*80*80, 1), noise(80*80*2, 2)
	dst := make([]float32, 256*80*80)
	for b.Loop() {
		GridSample(dst, src, grid, 1, 256, []int{80, 80}, []int{80, 80}, false, "zeros", false)
	}
	b.ReportMetric(float64(len(dst))*float64(b.N)/b.Elapsed().Seconds()/1e6, "Melements/s")
}
