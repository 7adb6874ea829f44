package cpu

import (
	"fmt"
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

// TestGridSampleIsItsDefinition compares samples of axes long and short with the definition, which
// reflects step by step.
func TestGridSampleIsItsDefinition(t *testing.T) {
	const c, points = 2, 301
	for _, in := range [][]int{{13, 30}, {40, 1}, {2, 3}} {
		src, grid := noise(c*in[0]*in[1], 1), noise(2*points, 2)
		for i := range grid {
			grid[i] *= float32(1 + i%5)
		}
		for _, mode := range []string{"nearest", "linear", "cubic"} {
			for _, padding := range []string{"zeros", "border", "reflection"} {
				for _, align := range []bool{false, true} {
					got, want := make([]float32, c*points), make([]float64, c*points)
					if mode == "nearest" {
						GridNearest(got, src, grid, 1, c, in, []int{1, points}, padding, align)
					} else {
						GridSample(got, src, grid, 1, c, in, []int{1, points}, mode == "cubic", padding, align)
					}
					for p := range points {
						for y, wy := range definedTaps(grid[2*p+1], in[0], mode, padding, align) {
							for x, wx := range definedTaps(grid[2*p], in[1], mode, padding, align) {
								for k := range c {
									want[k*points+p] += wy * wx * float64(src[(k*in[0]+y)*in[1]+x])
								}
							}
						}
					}
					for i := range got {
						if math.Abs(float64(got[i])-want[i]) > 1e-6 {
							t.Fatalf("%v %s %s align %v: %d is %v, want %v", in, mode, padding, align, i, got[i], want[i])
						}
					}
				}
			}
		}
	}
}

// definedTaps returns the weights of the elements that coordinate v reads on an axis of d elements.
func definedTaps(v float32, d int, mode, padding string, align bool) map[int]float64 {
	low, high := -0.5, float64(d)-0.5
	x := float64((float32((v+1)*float32(d)) - 1) / 2)
	if align {
		low, high = 0, float64(d-1)
		x = float64((v + 1) / 2 * float32(d-1))
	}
	pad := func(x float64) float64 {
		if padding == "zeros" {
			return x
		}
		for padding == "reflection" && low < high && (x < low || x > high) {
			if x < low {
				x = 2*low - x
			} else {
				x = 2*high - x
			}
		}
		return max(0, min(x, float64(d-1)))
	}
	taps := map[int]float64{}
	add := func(at, weight float64) {
		if at >= 0 && at < float64(d) {
			taps[int(at)] += weight
		}
	}
	switch mode {
	case "nearest":
		add(math.RoundToEven(pad(x)), 1)
	case "linear":
		for _, at := range []float64{math.Floor(pad(x)), math.Floor(pad(x)) + 1} {
			add(at, 1-math.Abs(pad(x)-at))
		}
	case "cubic":
		for k := range 4 {
			at := math.Floor(x) - 1 + float64(k)
			weight, distance := 0.0, math.Abs(x-at)
			if distance <= 1 {
				weight = 1.25*math.Pow(distance, 3) - 2.25*math.Pow(distance, 2) + 1
			} else {
				weight = -0.75*math.Pow(distance, 3) + 3.75*math.Pow(distance, 2) - 6*distance + 3
			}
			add(pad(at), weight)
		}
	}
	return taps
}

func TestSumTapsIsTheSameAtEachLevel(t *testing.T) {
	const taps, stride = 5, 40
	src, weights := noise(100, 3), noise(taps*stride, 4)
	src[0] = float32(math.Inf(1))
	index := make([]int32, taps*stride)
	for i := range index {
		index[i] = int32(i*37%101) - 1
	}
	atLevels(t, func(t *testing.T) {
		for n := range stride {
			got, want := noise(n+1, 5), noise(n+1, 5)
			sumTaps(got[:n], src, index, weights, taps, stride)
			sumTapsRef(want[:n], src, index, weights, taps, stride)
			if !slices.Equal(got, want) {
				t.Errorf("%d points: %v, want %v", n, got, want)
			}
		}
	})
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
	for _, c := range []struct {
		channels, side int
		cubic          bool
		padding        string
	}{{256, 80, false, "zeros"}, {3, 28, false, "zeros"}, {3, 28, true, "zeros"}, {3, 28, true, "reflection"}} {
		b.Run(fmt.Sprintf("%dx%d/cubic=%v/%s", c.channels, c.side, c.cubic, c.padding), func(b *testing.B) {
			sides := []int{c.side, c.side}
			src, grid := noise(c.channels*c.side*c.side, 1), noise(c.side*c.side*2, 2)
			dst := make([]float32, len(src))
			for b.Loop() {
				GridSample(dst, src, grid, 1, c.channels, sides, sides, c.cubic, c.padding, false)
			}
			b.ReportMetric(float64(len(dst))*float64(b.N)/b.Elapsed().Seconds()/1e6, "Melements/s")
		})
	}
}
