package cpu_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/burngen/burngen/runtime/cpu"
)

func TestPad(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rank := rapid.IntRange(0, 4).Draw(t, "rank")
		shape, before, after, to := make([]int, rank), make([]int, rank), make([]int, rank), make([]int, rank)
		pad := rapid.SampledFrom([]int{0, 0, 1, 2, 5})
		for i := range shape {
			shape[i] = rapid.IntRange(0, 4).Draw(t, "extent")
			before[i], after[i] = pad.Draw(t, "before"), pad.Draw(t, "after")
			to[i] = before[i] + shape[i] + after[i]
		}
		src, want := counted[uint16](product(shape)), make([]uint16, product(to))
		for i := range want {
			want[i] = 999
		}
		coordinates(shape, func(at []int) {
			moved := slices.Clone(at)
			for i := range moved {
				moved[i] += before[i]
			}
			want[place(moved, to)] = src[place(at, shape)]
		})
		got := make([]uint16, len(want))
		cpu.Pad(got, src, shape, before, after, 999)
		if !slices.Equal(got, want) {
			t.Fatalf("%v before %v after %v:\ngot  %v\nwant %v", shape, before, after, got, want)
		}
	})
}

func TestPadStrings(t *testing.T) {
	got := make([]string, 5)
	cpu.Pad(got, []string{"a", "b"}, []int{2}, []int{1}, []int{2}, "-")
	expect(t, "strings", got, "-", "a", "b", "-", "-")
}
