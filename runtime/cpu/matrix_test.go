package cpu_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/burngen/burngen/runtime/cpu"
)

// diagonals are the places of a diagonal that are worth a try.
var diagonals = rapid.OneOf(rapid.Int64Range(-8, 8), rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64}))

func TestTrilu(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		extent := rapid.IntRange(0, 6)
		outer, rows, cols := extent.Draw(t, "outer"), extent.Draw(t, "rows"), extent.Draw(t, "columns")
		k, upper := diagonals.Draw(t, "diagonal"), rapid.Bool().Draw(t, "upper")
		src := counted[int32](outer * rows * cols)
		want := make([]int32, len(src))
		for i, v := range src {
			if from := int64(i%cols - i/cols%rows); upper && from >= k || !upper && from <= k {
				want[i] = v
			}
		}
		got := slices.Repeat([]int32{-1}, len(src))
		cpu.Trilu(got, src, outer, rows, cols, k, upper)
		cpu.Trilu(src, src, outer, rows, cols, k, upper)
		if !slices.Equal(got, want) || !slices.Equal(src, want) {
			t.Fatalf("%d×%d×%d diagonal %d upper %v:\ngot      %v\nin place %v\nwant     %v", outer, rows, cols, k, upper, got, src, want)
		}
	})
}

func TestEye(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		extent := rapid.IntRange(0, 6)
		rows, cols, k := extent.Draw(t, "rows"), extent.Draw(t, "columns"), int(diagonals.Draw(t, "diagonal"))
		got, want := slices.Repeat([]float64{7}, rows*cols), make([]float64, rows*cols)
		for i := range want {
			if i%cols-i/cols == k {
				want[i] = 1
			}
		}
		cpu.Eye(got, rows, cols, k, 1)
		if !slices.Equal(got, want) {
			t.Fatalf("%d×%d diagonal %d:\ngot  %v\nwant %v", rows, cols, k, got, want)
		}
	})
	bits := make([]bool, 4)
	cpu.Eye(bits, 2, 2, 1, true)
	expect(t, "booleans", bits, false, true, false, false)
}

func TestOneHot(t *testing.T) {
	values := []string{"-", "x"}
	for _, c := range []struct {
		name                string
		idx                 []int64
		outer, depth, inner int
		want                []string
	}{
		{"last axis", []int64{1, 0}, 2, 3, 1, []string{"-", "x", "-", "x", "-", "-"}},
		{"first axis", []int64{1, 0}, 1, 3, 2, []string{"-", "x", "x", "-", "-", "-"}},
		{"middle axis", []int64{1, 0, 1, 1}, 2, 2, 2, []string{"-", "x", "x", "-", "-", "-", "x", "x"}},
		{"from the end", []int64{-1, -3}, 2, 3, 1, []string{"-", "-", "x", "x", "-", "-"}},
		{"outside", []int64{3, -4, math.MaxInt64, math.MinInt64}, 4, 3, 1, slices.Repeat([]string{"-"}, 12)},
		{"no depth", []int64{0, 1}, 2, 0, 1, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := make([]string, len(c.want))
			cpu.OneHot(got, c.idx, values, c.outer, c.depth, c.inner)
			expect(t, c.name, got, c.want...)
		})
	}
	got := make([]float32, 2)
	cpu.OneHot(got, []int32{-2}, []float32{0.5, 2}, 1, 2, 1)
	expect(t, "numbers", got, 2, 0.5)
}
