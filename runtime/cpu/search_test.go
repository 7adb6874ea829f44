package cpu_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/burngen/burngen/runtime/cpu"
	"github.com/burngen/burngen/runtime/kerneltest"
)

// coarse are n numbers, many of them equal, with zeros of both signs and, with nan, some NaN.
func coarse(n int, nan bool) []float32 {
	x := make([]float32, n)
	r := kerneltest.NewRandom(uint32(n))
	for i := range x {
		x[i] = float32(math.Round(float64(8*r.Float32()))) * float32(math.Copysign(1, float64(r.Float32())))
		if nan && i%37 == 5 {
			x[i] = float32(math.NaN())
		}
	}
	return x
}

// descending is the order of [cpu.TopK]: NaN, then the greatest.
func descending(a, b float32) int {
	switch {
	case a != a && b != b:
		return 0
	case a != a:
		return -1
	case b != b:
		return 1
	}
	return cmp.Compare(b+0, a+0)
}

func TestPositionsOfExtremes(t *testing.T) {
	atEachLevel(t, func(t *testing.T) {
		for _, n := range []int{1, 2, 7, 33, 300} {
			for _, inner := range []int{1, 2, 8, 31, 257, 300} {
				for _, nan := range []bool{false, true} {
					const outer = 3
					x := coarse(outer*n*inner, nan)
					for _, last := range []bool{false, true} {
						most, least := make([]int64, outer*inner), make([]int64, outer*inner)
						cpu.ArgMax(most, x, outer, n, inner, last)
						cpu.ArgMin(least, x, outer, n, inner, last)
						for o := range outer {
							for i := range inner {
								line := make([]float32, n)
								for j := range line {
									line[j] = x[(o*n+j)*inner+i]
								}
								check := func(what string, got int64, before func(a, b float32) bool) {
									t.Helper()
									want := 0
									for j, v := range line {
										w := line[want]
										if before(v, w) || v != v && w == w || last && (v == w || v != v && w != w) {
											want = j
										}
									}
									if int(got) != want {
										t.Fatalf("%s of [%d, %d, %d], last %v: line %d, %d has it at %d, want %d", what, outer, n, inner, last, o, i, got, want)
									}
								}
								check("ArgMax", most[o*inner+i], func(a, b float32) bool { return a > b })
								check("ArgMin", least[o*inner+i], func(a, b float32) bool { return a < b })
							}
						}
					}
				}
			}
		}
	})
}

func TestTopKOfFloats(t *testing.T) {
	atEachLevel(t, func(t *testing.T) {
		for _, n := range []int{1, 5, 64, 200, 1000} {
			for _, k := range []int{1, 2, 5, 60, n} {
				if k > n {
					continue
				}
				for _, smallest := range []bool{false, true} {
					x := coarse(2*n, n != 64)
					values, places := make([]float32, 2*k), make([]int64, 2*k)
					if err := cpu.TopK(values, places, x, n, k, smallest); err != nil {
						t.Fatal(err)
					}
					for l := range 2 {
						line, want := x[l*n:][:n], make([]int64, n)
						for i := range want {
							want[i] = int64(i)
						}
						slices.SortStableFunc(want, func(i, j int64) int {
							if smallest {
								return descending(line[j], line[i])
							}
							return descending(line[i], line[j])
						})
						if got := places[l*k:][:k]; !slices.Equal(got, want[:k]) {
							t.Fatalf("n %d, k %d, smallest %v: places %v, want %v", n, k, smallest, got, want[:k])
						}
						for i, at := range want[:k] {
							if got := values[l*k+i]; math.Float32bits(got) != math.Float32bits(line[at]) {
								t.Fatalf("n %d, k %d: value %d is %v, want %v", n, k, i, got, line[at])
							}
						}
					}
				}
			}
		}
	})
}

func TestNonZeroOfAllSizes(t *testing.T) {
	for _, shape := range [][]int{{0}, {1}, {7}, {8}, {100}, {3, 17}, {5, 1, 9}, {4, 3, 16}} {
		n := 1
		for _, d := range shape {
			n *= d
		}
		flags := make([]bool, n)
		floats := make([]float32, n)
		var want [][]int64
		for i := range flags {
			if flags[i] = i%3 != 1; flags[i] {
				floats[i] = -0.5
				at, rest := make([]int64, len(shape)), i
				for a := len(shape) - 1; a >= 0; a-- {
					at[a], rest = int64(rest%shape[a]), rest/shape[a]
				}
				want = append(want, at)
			}
		}
		if a, b := cpu.CountNonZero(flags), cpu.CountNonZero(floats); a != len(want) || b != len(want) {
			t.Errorf("%v: %d booleans and %d numbers, want %d", shape, a, b, len(want))
		}
		for _, f := range []func(dst []int64){
			func(dst []int64) { cpu.NonZero(dst, flags, shape) },
			func(dst []int64) { cpu.NonZero(dst, floats, shape) },
		} {
			dst := make([]int64, len(shape)*len(want))
			f(dst)
			for i, at := range want {
				for a, v := range at {
					if got := dst[a*len(want)+i]; got != v {
						t.Fatalf("%v: coordinate %d of %d is %d, want %d", shape, a, i, got, v)
					}
				}
			}
		}
	}
}

// Shared reductions give the results of one worker.
func TestSharedReductions(t *testing.T) {
	x := coarse(1<<18, false)
	for _, s := range [][3]int{{1, 1 << 18, 1}, {1 << 10, 1 << 8, 1}, {4, 1 << 8, 1 << 8}, {1, 1 << 8, 1 << 10}} {
		outer, n, inner := s[0], s[1], s[2]
		for name, f := range map[string]func(dst []float32){
			"Sum":       func(dst []float32) { cpu.ReduceSum(dst, x, outer, n, inner) },
			"L1":        func(dst []float32) { cpu.ReduceL1(dst, x, outer, n, inner) },
			"Max":       func(dst []float32) { cpu.ReduceMax(dst, x, outer, n, inner) },
			"LogSumExp": func(dst []float32) { cpu.ReduceLogSumExp(dst, x, outer, n, inner) },
		} {
			want, got := make([]float32, outer*inner), make([]float32, outer*inner)
			f(want)
			sharedOut(t, name, func() { f(got) })
			kerneltest.SameBits(t, fmt.Sprint(name, s), got, want)
		}
		want, got := make([]int64, outer*inner), make([]int64, outer*inner)
		cpu.ArgMax(want, x, outer, n, inner, false)
		sharedOut(t, "ArgMax", func() { cpu.ArgMax(got, x, outer, n, inner, false) })
		if !slices.Equal(got, want) {
			t.Error("ArgMax: the pool gives another result")
		}
	}
	values, places := make([]float32, 1<<10), make([]int64, 1<<10)
	sharedOut(t, "TopK", func() {
		if err := cpu.TopK(values, places, x, 1<<10, 4, false); err != nil {
			t.Error(err)
		}
	})
}
