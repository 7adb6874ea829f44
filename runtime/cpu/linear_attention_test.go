package cpu_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/burngen/burngen/runtime/cpu"
)

func TestLinearAttention(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string, lo, hi int) int { return rapid.IntRange(lo, hi).Draw(t, name) }
		batch, steps, shared, each := draw("batch", 0, 2), draw("steps", 0, 4), draw("shared", 1, 3), draw("each", 1, 2)
		depth, width := draw("depth", 0, 9), draw("width", 0, 9)
		heads := shared * each
		numbers := func(name string, n int) []float64 {
			return rapid.SliceOfN(rapid.Float64Range(-1, 1), n, n).Draw(t, name)
		}
		q, k := numbers("q", batch*steps*heads*depth), numbers("k", batch*steps*shared*depth)
		v, past := numbers("v", batch*steps*shared*width), numbers("past", batch*shared*depth*width)
		var keep, rate []float64
		if rapid.Bool().Draw(t, "has keep") {
			keep = numbers("keep", len(k))
		}
		if rapid.Bool().Draw(t, "has rate") {
			rate = numbers("rate", batch*steps*shared)
		}
		dst, state := make([]float64, batch*steps*heads*width), make([]float64, len(past))
		cpu.LinearAttention(dst, state, q, k, v, past, keep, rate, batch, steps, heads, shared, depth, width)

		// The definition, for each element of the batch and of the result by itself.
		for b := range batch {
			for h := range heads {
				g := h / each
				s := append([]float64{}, past[(b*shared+g)*depth*width:][:depth*width]...)
				for step := range steps {
					at := (b*steps+step)*shared + g
					for e := range width {
						have := 0.0
						for d := range depth {
							if keep != nil {
								s[d*width+e] *= keep[at*depth+d]
							}
							have += k[at*depth+d] * s[d*width+e]
						}
						change := v[at*width+e]
						if rate != nil {
							change = rate[at] * (change - have)
						}
						want := 0.0
						for d := range depth {
							s[d*width+e] += k[at*depth+d] * change
							want += q[((b*steps+step)*heads+h)*depth+d] * s[d*width+e]
						}
						if got := dst[((b*steps+step)*heads+h)*width+e]; math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
							t.Fatalf("batch %d, step %d, head %d, element %d: %v, want %v", b, step, h, e, got, want)
						}
					}
				}
				for i, want := range s {
					if got := state[(b*shared+g)*depth*width+i]; math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
						t.Fatalf("batch %d, state %d of head %d: %v, want %v", b, i, g, got, want)
					}
				}
			}
		}
		cpu.LinearAttention(dst, past, q, k, v, past, keep, rate, batch, steps, heads, shared, depth, width)
		for i := range past {
			if past[i] != state[i] {
				t.Fatalf("in place, element %d of the state is %v, want %v", i, past[i], state[i])
			}
		}
	})
}

func TestLinearAttentionKeepsNaN(t *testing.T) {
	nan := float32(math.NaN())
	one, zero := []float32{1}, []float32{0}
	dst, state := make([]float32, 1), make([]float32, 1)
	cpu.LinearAttention(dst, state, one, one, one, []float32{nan}, zero, nil, 1, 1, 1, 1, 1, 1)
	if dst[0] == dst[0] || state[0] == state[0] {
		t.Errorf("result %v and state %v, NaN expected", dst[0], state[0])
	}
}
