package cpu_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/burngen/burngen/runtime/cpu"
)

func draw(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

func TestSquaredDistances(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, s := range [][3]int{{0, 2, 3}, {2, 0, 3}, {2, 3, 0}, {1, 1, 1}, {3, 2, 7}, {2, 5, 8}} {
		n, m, k := s[0], s[1], s[2]
		a, b, dst := draw(r, n*k), draw(r, m*k), make([]float32, n*m)
		cpu.SquaredDistances(dst, a, b, n, m, k)
		for i := range n {
			for j := range m {
				want := 0.0
				for l := range k {
					d := float64(a[i*k+l]) - float64(b[j*k+l])
					want += d * d
				}
				if got := float64(dst[i*m+j]); math.Abs(got-want) > 1e-5*(1+want) {
					t.Errorf("%v: %d, %d is %v, want %v", s, i, j, got, want)
				}
			}
		}
	}
}

func TestSVMPairs(t *testing.T) {
	// Class 0 has one vector, class 1 has none, and class 2 has two. The kernel functions are 1, 2,
	// 3.
	dst := make([]float32, 3)
	cpu.SVMPairs(dst, []float32{1, 2, 3}, []float32{10, 20, 30, 40, 50, 60}, []float32{0.5, 0.25, 0}, []int64{1, 0, 2}, 1, 3)
	if want := []float32{10*1 + 0.5, 40*1 + 20*2 + 30*3 + 0.25, 50*2 + 60*3}; !slices.Equal(dst, want) {
		t.Errorf("%v, want %v", dst, want)
	}
}

func TestSVMVotes(t *testing.T) {
	dst := make([]int64, 4)
	cpu.SVMVotes(dst, []float32{
		1, 1, 1, // 0 twice, 1 once
		-1, 1, -1, // one each: the first
		-1, -1, 1, // 1 twice
		0, float32(math.NaN()), 0, // 1 once, 2 twice
	}, 3)
	if want := []int64{0, 0, 1, 2}; !slices.Equal(dst, want) {
		t.Errorf("%v, want %v", dst, want)
	}
}

func TestSVMProbabilities(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, classes := range []int{2, 3, 5} {
		const rows = 4
		pairs := classes * (classes - 1) / 2
		src, a, b := draw(r, rows*pairs), draw(r, pairs), draw(r, pairs)
		dst := make([]float32, rows*classes)
		cpu.SVMProbabilities(dst, src, a, b, make([]float32, classes*(2*classes+1)), rows, classes)
		for row := range rows {
			sum := 0.0
			for _, p := range dst[row*classes:][:classes] {
				if p < 0 || p > 1 {
					t.Errorf("%d classes: %v", classes, dst)
				}
				sum += float64(p)
			}
			if math.Abs(sum-1) > 1e-5 {
				t.Errorf("%d classes: sum %v", classes, sum)
			}
			if classes == 2 {
				want := 1 / (1 + math.Exp(float64(src[row]*a[0]+b[0])))
				if got := float64(dst[2*row]); math.Abs(got-want) > 5e-3 {
					t.Errorf("row %d: %v, want %v", row, got, want)
				}
			}
		}
	}
}
