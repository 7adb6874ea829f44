package dim

import (
	"math"
	"testing"
)

func TestBounds(t *testing.T) {
	const inf, neg = math.MaxInt64, math.MinInt64
	for _, c := range []struct {
		in     string
		lo, hi int64
	}{
		{"5", 5, 5},
		{"N", 0, inf},
		{"2*N+3", 3, inf},
		{"4-N", neg, 4},
		{"N-S", neg, inf},
		{"N%7", 0, 6},
		{"N%7+S%3", 0, 8},
		{"(H-1)/2", -1, inf},
		{"min(N,9)/2", 0, 4},
		{"N-N/2", 0, inf},
		{"N-N/2-(N+1)/2", 0, 0},
		{"N-max(N-1,0)", 0, 1},
		{"max(N,S)-N", 0, inf},
		{"min(N,S)-N", neg, 0},
		{"max(S-N,4)", 4, inf},
		{"-3/N", -3, -1},
		{"min(N,3)*min(S,5)", 0, 15},
		{"min(N,3)*(min(S,5)-4)", -12, 3},
		{"(min(N,3)-1)/(S-2)", -2, 2},
	} {
		t.Run(c.in, func(t *testing.T) {
			if lo, hi := must(t, c.in).Bounds(); lo != c.lo || hi != c.hi {
				t.Errorf("got %d, %d, want %d, %d", lo, hi, c.lo, c.hi)
			}
		})
	}
}
