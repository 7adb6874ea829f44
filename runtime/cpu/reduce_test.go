package cpu_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/burngen/burngen/runtime/cpu"
	"github.com/burngen/burngen/runtime/kerneltest"
)

func TestReduce(t *testing.T) {
	atEachLevel(t, func(t *testing.T) {
		kerneltest.Reduce(t, map[string]func(dst, src []float32, outer, n, inner int){
			"Sum": cpu.ReduceSum[float32], "Mean": cpu.ReduceMean[float32], "SumSquare": cpu.ReduceSumSquare[float32],
			"L1": cpu.ReduceL1[float32], "L2": cpu.ReduceL2[float32],
			"LogSum": cpu.ReduceLogSum[float32], "LogSumExp": cpu.ReduceLogSumExp[float32],
			"Prod": cpu.ReduceProd[float32], "Max": cpu.ReduceMax[float32], "Min": cpu.ReduceMin[float32],
		}, exact)
	})
}

func TestSoftmax(t *testing.T) {
	atEachLevel(t, func(t *testing.T) { kerneltest.Softmax(t, cpu.Softmax[float32], false, exact) })
}

func TestLogSoftmax(t *testing.T) {
	atEachLevel(t, func(t *testing.T) { kerneltest.Softmax(t, cpu.LogSoftmax[float32], true, exact) })
}

func TestGroupNorm(t *testing.T) {
	atEachLevel(t, func(t *testing.T) { kerneltest.GroupNorm(t, cpu.GroupNorm[float32], exact) })
}

func TestLayerNorm(t *testing.T) {
	atEachLevel(t, func(t *testing.T) { kerneltest.Norm(t, cpu.LayerNorm[float32], true, true, exact) })
}

func TestRMSNorm(t *testing.T) {
	atEachLevel(t, func(t *testing.T) {
		kerneltest.Norm(t, func(dst, src, scale, _ []float32, rows, n int, eps float32) {
			cpu.RMSNorm(dst, src, scale, rows, n, eps)
		}, false, false, exact)
	})
}

func TestReduceIntegers(t *testing.T) {
	x := []int32{7, -3, 5, -8, 100, 2}
	for name, c := range map[string]struct {
		f    func(dst, src []int32, outer, n, inner int)
		want [3]int32 // over [1, 6, 1] and [1, 3, 2]
	}{
		"sum":                      {cpu.ReduceSum[int32], [3]int32{103, 112, -9}},
		"mean, toward zero":        {cpu.ReduceMean[int32], [3]int32{17, 37, -3}},
		"product":                  {cpu.ReduceProd[int32], [3]int32{168000, 3500, 48}},
		"sum of squares":           {cpu.ReduceSumSquare[int32], [3]int32{10151, 10074, 77}},
		"sum of magnitudes":        {cpu.ReduceL1[int32], [3]int32{125, 112, 13}},
		"root of squares, floored": {cpu.ReduceL2[int32], [3]int32{100, 100, 8}},
		"greatest":                 {cpu.ReduceMax[int32], [3]int32{100, 100, 2}},
		"least":                    {cpu.ReduceMin[int32], [3]int32{-8, 5, -8}},
	} {
		t.Run(name, func(t *testing.T) {
			var got [3]int32
			c.f(got[:1], x, 1, 6, 1)
			c.f(got[1:], x, 1, 3, 2)
			if got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestReduceNothing(t *testing.T) {
	i, u, f := []int8{1}, []uint16{1}, []float64{1}
	cpu.ReduceMax(i, nil, 1, 0, 1)
	cpu.ReduceMin(u, nil, 1, 0, 1)
	cpu.ReduceMax(f, nil, 1, 0, 1)
	if i[0] != math.MinInt8 || u[0] != math.MaxUint16 || f[0] != math.Inf(-1) {
		t.Errorf("extremes of nothing are %v, %v, %v", i[0], u[0], f[0])
	}
	cpu.ReduceMin(i, nil, 1, 0, 1)
	cpu.ReduceMax(u, nil, 1, 0, 1)
	cpu.ReduceMean(f, nil, 1, 0, 1)
	if i[0] != math.MaxInt8 || u[0] != 0 || f[0] == f[0] {
		t.Errorf("extremes and mean of nothing are %v, %v, %v", i[0], u[0], f[0])
	}
	cpu.ReduceMean(i, nil, 1, 0, 1)
	if i[0] != 0 {
		t.Errorf("the integer mean of nothing is %v", i[0])
	}
}

func TestReduceBooleans(t *testing.T) {
	x := []bool{false, true, false, false}
	any, all := make([]bool, 2), make([]bool, 2)
	cpu.ReduceAny(any, x, 2, 2, 1)
	cpu.ReduceAll(all, x, 1, 2, 2)
	if !any[0] || any[1] || all[0] || all[1] {
		t.Errorf("any %v, all %v", any, all)
	}
}

func TestArg(t *testing.T) {
	nan := math.NaN()
	for name, c := range map[string]struct {
		x                            []float64
		max, maxLast, least, minLast int64
	}{
		"one":        {[]float64{4}, 0, 0, 0, 0},
		"order":      {[]float64{1, 3, -2}, 1, 1, 2, 2},
		"equals":     {[]float64{3, 1, 3, 1}, 0, 2, 1, 3},
		"NaN":        {[]float64{5, nan, 9, nan, 1}, 1, 3, 1, 3},
		"infinities": {[]float64{math.Inf(-1), math.Inf(1), 0}, 1, 1, 0, 0},
		"zeros":      {[]float64{math.Copysign(0, -1), 0}, 0, 1, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var got [4]int64
			cpu.ArgMax(got[0:1], c.x, 1, len(c.x), 1, false)
			cpu.ArgMax(got[1:2], c.x, 1, len(c.x), 1, true)
			cpu.ArgMin(got[2:3], c.x, 1, len(c.x), 1, false)
			cpu.ArgMin(got[3:4], c.x, 1, len(c.x), 1, true)
			if want := [4]int64{c.max, c.maxLast, c.least, c.minLast}; got != want {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
	t.Run("middle axis", func(t *testing.T) {
		dst := make([]int64, 4)
		cpu.ArgMax(dst, []int32{1, 2, 3, 0, 9, 9, 8, 10}, 2, 2, 2, false)
		if dst[0] != 1 || dst[1] != 0 || dst[2] != 0 || dst[3] != 1 {
			t.Errorf("got %v", dst)
		}
	})
}

// TestLogSoftmaxOfShortRows compares rows that are worked on together with each alone.
func TestLogSoftmaxOfShortRows(t *testing.T) {
	atEachLevel(t, func(t *testing.T) {
		for n := 1; n <= 40; n++ {
			const rows = 300
			r := kerneltest.NewRandom(uint32(n))
			src, all, alone := make([]float32, rows*n), make([]float32, rows*n), make([]float32, rows*n)
			for i := range src {
				src[i] = 20 * r.Float32()
			}
			cpu.LogSoftmax(all, src, rows, n, 1)
			for i := range rows {
				cpu.LogSoftmax(alone[i*n:][:n], src[i*n:][:n], 1, n, 1)
			}
			kerneltest.SameBits(t, fmt.Sprintf("rows of %d", n), all, alone)
		}
	})
}

// SoftmaxExact keeps shares that are less than the smallest normal number, which Softmax may flush.
func TestSoftmaxExact(t *testing.T) {
	atEachLevel(t, func(t *testing.T) {
		src := []float32{0, -90, -100, 0, -1, 2} // two rows, or columns of pairs
		for _, shape := range [][3]int{{2, 3, 1}, {1, 2, 3}} {
			rows, n, inner := shape[0], shape[1], shape[2]
			dst := make([]float32, len(src))
			cpu.SoftmaxExact(dst, src, rows, n, inner)
			for i, got := range dst {
				var sum float64
				first := i/(n*inner)*n*inner + i%inner
				for k := range n {
					sum += math.Exp(float64(src[first+k*inner]))
				}
				want := math.Exp(float64(src[i])) / sum
				if math.Abs(float64(got)-want) > 1e-6*want+2*math.SmallestNonzeroFloat32 || got == 0 {
					t.Errorf("%v: element %d is %v, want %v", shape, i, got, want)
				}
			}
		}
	})
}
