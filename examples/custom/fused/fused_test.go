package fused

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/runtime/rt"
)

// reference computes the operator by its definition, in float64.
func reference(x, w, b []float64, n, k, m int) []float64 {
	y := make([]float64, n*m)
	for i := range n {
		for j := range m {
			sum := b[j]
			for l := range k {
				sum += x[i*k+l] * w[l*m+j]
			}
			y[i*m+j] = max(sum, 0)
		}
	}
	return y
}

// sizes are the extents N, K and M of products.
var sizes = [][3]int{{1, 1, 1}, {4, 3, 2}, {5, 7, 9}, {3, 0, 2}, {0, 2, 3}, {9, 16, 1}}

// drawn returns n numbers that are not close to 0, as float64 and as float32.
func drawn(rng *rand.Rand, n int) (wide []float64, narrow []float32) {
	wide, narrow = make([]float64, n), make([]float32, n)
	for i := range narrow {
		narrow[i] = float32(rng.NormFloat64())
		wide[i] = float64(narrow[i])
	}
	return wide, narrow
}

func near(t *testing.T, what string, got []float32, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s has %d elements, not %d", what, len(got), len(want))
	}
	for i, v := range want {
		if !(math.Abs(float64(got[i])-v) <= tolerance*(1+math.Abs(v))) {
			t.Errorf("%s: element %d is %v, not %v", what, i, got[i], v)
		}
	}
}

// TestForward compares the kernel with the reference.
func TestForward(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	for _, s := range sizes {
		t.Run(fmt.Sprint(s), func(t *testing.T) {
			n, k, m := s[0], s[1], s[2]
			x, x32 := drawn(rng, n*k)
			w, w32 := drawn(rng, k*m)
			b, b32 := drawn(rng, m)
			y := make([]float32, n*m)
			c := rt.NewCall("acme.FusedMatMulAddReLU", 3, 1, nil)
			rt.CallIn(c, 0, x32, n, k)
			rt.CallIn(c, 1, w32, k, m)
			rt.CallIn(c, 2, b32, m)
			rt.CallOut(c, 0, y, n, m)
			if err := c.Run(MatMulAddReLU); err != nil {
				t.Fatal(err)
			}
			near(t, "y", y, reference(x, w, b, n, k, m), 1e-5)
		})
	}
}

// TestGradients compares gradients with finite differences of the reference.
func TestGradients(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 0))
	for _, s := range sizes {
		t.Run(fmt.Sprint(s), func(t *testing.T) {
			n, k, m := s[0], s[1], s[2]
			x, x32 := drawn(rng, n*k)
			w, w32 := drawn(rng, k*m)
			b, b32 := drawn(rng, m)
			of, of32 := drawn(rng, n*m)
			y := make([]float32, n*m)
			for i, v := range reference(x, w, b, n, k, m) {
				y[i] = float32(v)
			}
			dx, dw, db := make([]float32, n*k), make([]float32, k*m), make([]float32, m)
			c := rt.NewCall("acme.FusedMatMulAddReLUGrad", 5, 3, nil)
			rt.CallIn(c, 0, x32, n, k)
			rt.CallIn(c, 1, w32, k, m)
			rt.CallIn(c, 2, b32, m)
			rt.CallIn(c, 3, y, n, m)
			rt.CallIn(c, 4, of32, n, m)
			rt.CallOut(c, 0, dx, n, k)
			rt.CallOut(c, 1, dw, k, m)
			rt.CallOut(c, 2, db, m)
			if err := c.Run(MatMulAddReLUGrad); err != nil {
				t.Fatal(err)
			}
			// loss returns the sum of y times the upstream gradient.
			loss := func() (sum float64) {
				for i, v := range reference(x, w, b, n, k, m) {
					sum += of[i] * v
				}
				return sum
			}
			slopes := func(p []float64) []float64 {
				const step = 1e-6
				out := make([]float64, len(p))
				for i, v := range p {
					p[i] = v + step
					high := loss()
					p[i] = v - step
					out[i], p[i] = (high-loss())/(2*step), v
				}
				return out
			}
			near(t, "dx", dx, slopes(x), 1e-4)
			near(t, "dw", dw, slopes(w), 1e-4)
			near(t, "db", db, slopes(b), 1e-4)

			// Only the gradient of w is wanted.
			alone := make([]float32, len(dw))
			c = rt.NewCall("acme.FusedMatMulAddReLUGrad", 5, 3, nil, rt.Attr{Name: rt.WantAttr, Value: []int64{0, 1, 0}})
			for i, in := range [][]float32{x32, w32, b32, y, of32} {
				rt.CallIn(c, i, in, [][]int{{n, k}, {k, m}, {m}, {n, m}, {n, m}}[i]...)
			}
			for i, out := range [][]float32{make([]float32, n*k), alone, make([]float32, m)} {
				rt.CallOut(c, i, out, [][]int{{n, k}, {k, m}, {m}}[i]...)
			}
			if err := c.Run(MatMulAddReLUGrad); err != nil || !slices.Equal(alone, dw) {
				t.Errorf("dw alone is %v, want %v; error %v", alone, dw, err)
			}
		})
	}
}

func TestMistakes(t *testing.T) {
	for name, f := range map[string]func(*rt.Call) error{"forward": MatMulAddReLU, "backward": MatMulAddReLUGrad} {
		c := rt.NewCall("acme.Wrong", 1, 1, nil)
		rt.CallIn(c, 0, []float64{1}, 1)
		rt.CallOut(c, 0, []float32{0}, 1)
		if err := c.Run(f); err == nil || !strings.Contains(err.Error(), "acme.Wrong") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
