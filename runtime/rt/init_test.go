package rt_test

import (
	"math"
	"slices"
	"testing"

	"github.com/burngen/burngen/runtime/rt"
)

func filled(t *testing.T, n rt.Init, seed uint64, name string, shape ...int) []float32 {
	t.Helper()
	size := 1
	for _, d := range shape {
		size *= d
	}
	dst := make([]float32, size)
	if err := n.Fill(dst, seed, name, shape...); err != nil {
		t.Fatal(err)
	}
	return dst
}

func TestInitDistributions(t *testing.T) {
	for _, c := range []struct {
		init            rt.Init
		mean, deviation float64
		least, greatest float64
	}{
		{rt.Init{Kind: rt.InitConstant, A: 3}, 3, 0, 3, 3},
		{rt.Init{Kind: rt.InitUniform, A: -1, B: 3}, 1, 4 / math.Sqrt(12), -1, 3},
		{rt.Init{Kind: rt.InitNormal, A: 2, B: 0.5}, 2, 0.5, -2, 6},
		{rt.Init{Kind: rt.InitTruncated, A: 2, B: 0.5}, 2, 0.5 * 0.8796, 1, 3},
	} {
		t.Run(c.init.Kind, func(t *testing.T) {
			x := filled(t, c.init, 7, "w", 100, 100)
			sum, square := 0.0, 0.0
			for _, v := range x {
				if float64(v) < c.least || float64(v) > c.greatest {
					t.Fatalf("%v is not from %v to %v", v, c.least, c.greatest)
				}
				sum += float64(v)
				square += float64(v) * float64(v)
			}
			mean := sum / float64(len(x))
			deviation := math.Sqrt(max(0, square/float64(len(x))-mean*mean))
			if math.Abs(mean-c.mean) > 0.05 || math.Abs(deviation-c.deviation) > 0.05 {
				t.Errorf("mean %v, deviation %v; want %v, %v", mean, deviation, c.mean, c.deviation)
			}
		})
	}
}

func TestInitOrthogonal(t *testing.T) {
	for _, shape := range [][]int{{3, 5}, {5, 3}, {4, 4}, {2, 2, 3}} {
		x := filled(t, rt.Init{Kind: rt.InitOrthogonal, A: 2}, 1, "w", shape...)
		rows, cols := shape[0], len(x)/shape[0]
		at := func(r, c int) float64 { return float64(x[r*cols+c]) }
		if rows > cols {
			rows, cols = cols, rows
			at = func(r, c int) float64 { return float64(x[c*rows+r]) }
		}
		for i := range rows {
			for j := range rows {
				dot, want := 0.0, 0.0
				for k := range cols {
					dot += at(i, k) * at(j, k)
				}
				if i == j {
					want = 4
				}
				if math.Abs(dot-want) > 1e-5 {
					t.Errorf("%v: rows %d and %d have the product %v, want %v", shape, i, j, dot, want)
				}
			}
		}
	}
}

func TestInitDependsOnSeedAndName(t *testing.T) {
	n := rt.Init{Kind: rt.InitUniform, B: 1}
	first := filled(t, n, 1, "a", 8)
	for _, c := range []struct {
		seed uint64
		name string
		same bool
	}{{1, "a", true}, {2, "a", false}, {1, "b", false}} {
		if got := filled(t, n, c.seed, c.name, 8); (got[0] == first[0]) != c.same || (got[7] == first[7]) != c.same {
			t.Errorf("seed %d, name %q: %v beside %v", c.seed, c.name, got, first)
		}
	}
	// The numbers are part of every generated program.
	if got, want := first[:3], []float32{0.47151506, 0.6350489, 0.017073868}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if err := (rt.Init{Kind: rt.InitGiven}).Fill(nil, 0, "w"); err == nil {
		t.Error("given elements are drawn")
	}
}
