package data_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/burngen/burngen/internal/seeded"
	"github.com/burngen/burngen/runtime/data"
)

// TestPermutationIsABijection asserts that every number is at one position, which Position knows.
func TestPermutationIsABijection(t *testing.T) {
	seen := make([]bool, 70000)
	sized := func(n int, seed, epoch uint64) {
		p := data.NewPermutation(n, seed, epoch)
		clear(seen[:n])
		for i := range n {
			x := p.At(i)
			if x < 0 || x >= n || seen[x] {
				t.Fatalf("%d numbers: %d is at position %d, and at another one or out of range", n, x, i)
			}
			seen[x] = true
			if at := p.Position(x); at != i {
				t.Fatalf("%d numbers: %d is at position %d, Position returns %d", n, x, i, at)
			}
		}
	}
	every, step := 2000, 331
	if testing.Short() {
		every, step = 600, 9973
	}
	for n := range every {
		sized(n, uint64(n), 3)
	}
	for n := every; n < len(seen); n += step {
		sized(n, 42, uint64(n))
	}
	for bits := 2; bits < 17; bits++ { // where the size of the network changes
		for n := 1<<bits - 1; n <= 1<<bits+1 && n <= len(seen); n++ {
			sized(n, 1, 2)
		}
	}
	sized(len(seen), 1, 2)
}

// TestLargePermutations draws sizes and positions.
func TestLargePermutations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, math.MaxInt).Draw(t, "n")
		p := data.NewPermutation(n, rapid.Uint64().Draw(t, "seed"), rapid.Uint64().Draw(t, "epoch"))
		i := rapid.IntRange(0, n-1).Draw(t, "position")
		if x := p.At(i); x < 0 || x >= n || p.Position(x) != i {
			t.Errorf("%d is at position %d of %d, Position returns %d", x, i, n, p.Position(x))
		}
	})
	for _, n := range []int{-1, 0, 1, 5, math.MinInt} {
		p := data.NewPermutation(n, 1, 2)
		if p.Len() != max(0, n) || p.At(-1) != -1 || p.At(p.Len()) != -1 || p.Position(-1) != -1 || p.Position(p.Len()) != -1 {
			t.Errorf("%d numbers: Len is %d, At returns %d and %d out of range", n, p.Len(), p.At(-1), p.At(p.Len()))
		}
	}
}

// TestOrdersNeverChange compares orders with the test vectors of docs/data.md.
func TestOrdersNeverChange(t *testing.T) {
	for _, v := range vectors {
		p := data.NewPermutation(v.n, v.seed, v.epoch)
		got := make([]int, len(v.first))
		for i := range got {
			got[i] = p.At(i)
		}
		if !slices.Equal(got, v.first) {
			t.Errorf("%d numbers, seed %d, epoch %d: the order begins with %v, want %v", v.n, v.seed, v.epoch, got, v.first)
		}
	}
}

// chiSquare returns the sum of (observed - expected)²/expected over counts that are all expected to
// be equal.
func chiSquare(counts []int) float64 {
	sum := 0
	for _, c := range counts {
		sum += c
	}
	expected := float64(sum) / float64(len(counts))
	var x float64
	for _, c := range counts {
		x += (float64(c) - expected) * (float64(c) - expected) / expected
	}
	return x
}

// wantUniform reports counts whose χ² is more than five standard deviations from its mean. Above the
// mean, that is the probability 10⁻⁶ or less of a large table.
func wantUniform(t *testing.T, what string, counts []int) {
	t.Helper()
	freedom := float64(len(counts) - 1)
	if x := chiSquare(counts); math.Abs(x-freedom) > 5*math.Sqrt(2*freedom)+5 {
		t.Errorf("%s: χ² is %.1f with %.0f degrees of freedom: %v", what, x, freedom, counts[:min(20, len(counts))])
	}
}

// TestPermutationsAreUniform counts in many orders what is at a position, and what follows what.
func TestPermutationsAreUniform(t *testing.T) {
	for _, n := range []int{2, 3, 4, 5, 6, 10, 16, 17, 37, 64, 100} {
		places, neighbours := make([]int, n*n), make([]int, n*(n-1))
		for seed := range uint64(100) {
			for epoch := range uint64(100) {
				p := data.NewPermutation(n, seed, epoch)
				last := -1
				for i := range n {
					x := p.At(i)
					places[i*n+x]++
					if last >= 0 {
						neighbours[last*(n-1)+(x-last+n)%n-1]++
					}
					last = x
				}
			}
		}
		// Rows and columns of the first table have a fixed sum: (n-1)² degrees of freedom.
		freedom := float64((n - 1) * (n - 1))
		if x := chiSquare(places); math.Abs(x-freedom) > 5*math.Sqrt(2*freedom)+5 {
			t.Errorf("%d numbers: χ² of places is %.1f with %.0f degrees of freedom", n, x, freedom)
		}
		if n > 2 {
			wantUniform(t, "neighbours", neighbours)
		}
	}
}

func BenchmarkPermutation(b *testing.B) {
	p := data.NewPermutation(60000, 1, 2)
	for i := 0; b.Loop(); i++ {
		p.At(i % 60000)
	}
}
