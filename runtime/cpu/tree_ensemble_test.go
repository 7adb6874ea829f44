package cpu_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/burngen/burngen/runtime/cpu"
	"github.com/burngen/burngen/runtime/rt"
)

// trees are trees drawn at random, as [cpu.TreeEnsemble] takes them.
type trees[T cpu.Float] struct {
	nodes                  []int32
	thresholds             []T
	roots, leaves, targets []int32
	weights, base          []T
	features, n            int
}

// growTrees draws trees of one depth. A leaf names one target, or all targets if dense is set.
func growTrees[T cpu.Float](r *rand.Rand, count, depth, features, targets int, dense bool) *trees[T] {
	t := &trees[T]{features: features, n: targets}
	var grow func(depth int) int32
	grow = func(depth int) int32 {
		if depth == 0 {
			if dense {
				for range targets {
					t.weights = append(t.weights, T(r.IntN(17)-8))
				}
				return -int32(len(t.weights) / targets)
			}
			t.leaves = append(t.leaves, int32(len(t.targets)))
			for range r.IntN(3) {
				t.targets, t.weights = append(t.targets, int32(r.IntN(targets))), append(t.weights, T(r.IntN(17)-8))
			}
			return -int32(len(t.leaves))
		}
		at := len(t.thresholds)
		feature := int32(r.IntN(features))
		t.nodes, t.thresholds = append(t.nodes, feature, 0, 0), append(t.thresholds, T(r.NormFloat64()))
		t.nodes[3*at+1] = grow(depth - 1)
		t.nodes[3*at+2] = grow(depth - 1)
		return int32(at)
	}
	for range count {
		t.roots = append(t.roots, grow(depth))
	}
	if !dense {
		t.leaves = append(t.leaves, int32(len(t.targets)))
	}
	return t
}

// rowsFor draws rows, with NaN here and there.
func (t *trees[T]) rowsFor(r *rand.Rand, rows int) []T {
	x := make([]T, rows*t.features)
	for i := range x {
		if x[i] = T(r.NormFloat64()); r.IntN(9) == 0 {
			x[i] = T(math.NaN())
		}
	}
	return x
}

func (t *trees[T]) run(dst, x []T, rows int, aggregate string) error {
	return cpu.TreeEnsemble(dst, x, t.nodes, t.thresholds, t.roots, t.leaves, t.targets, t.weights, t.base, rows, t.features, t.features, t.n, aggregate)
}

// gifts calls give with the contribution of each tree to each target for a row.
func (t *trees[T]) gifts(x []T, give func(target int, weight T)) {
	for _, at := range t.roots {
		for at >= 0 {
			side := int32(1)
			if x[t.nodes[3*at]] <= t.thresholds[at] {
				side = 2
			}
			at = t.nodes[3*at+side]
		}
		leaf := int(-1 - at)
		if t.leaves == nil {
			for target, w := range t.weights[leaf*t.n:][:t.n] {
				give(target, w)
			}
			continue
		}
		for i := t.leaves[leaf]; i < t.leaves[leaf+1]; i++ {
			give(int(t.targets[i]), t.weights[i])
		}
	}
}

func (t *trees[T]) want(x []T, rows int, aggregate string) []T {
	want := make([]T, rows*t.n)
	for r := range rows {
		given := make([][]T, t.n)
		t.gifts(x[r*t.features:][:t.features], func(target int, w T) { given[target] = append(given[target], w) })
		for target, list := range given {
			var sum, v T
			for _, w := range list {
				sum += w
			}
			switch {
			case aggregate == "average":
				v = sum / T(len(t.roots))
			case aggregate == "sum":
				v = sum
			case aggregate == "min" && len(list) > 0:
				v = slices.Min(list)
			case aggregate == "max" && len(list) > 0:
				v = slices.Max(list)
			}
			if t.base != nil {
				v += t.base[target]
			}
			want[r*t.n+target] = v
		}
	}
	return want
}

func testTreeEnsemble[T cpu.Float](t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	rt.Begin()
	defer rt.End()
	for _, aggregate := range []string{"sum", "average", "min", "max"} {
		for _, targets := range []int{1, 3} {
			for _, dense := range []bool{false, true} {
				for _, rows := range []int{0, 1, 5, 64, 1000} {
					t.Run(fmt.Sprintf("%s/%d/%t/%d", aggregate, targets, dense, rows), func(t *testing.T) {
						trees := growTrees[T](r, 7, rows%5, 6, targets, dense)
						if rows%2 == 0 {
							trees.base = []T{0.5, -0.25, 2}[:targets]
						}
						x := trees.rowsFor(r, rows)
						dst := make([]T, rows*targets)
						if err := trees.run(dst, x, rows, aggregate); err != nil {
							t.Fatal(err)
						}
						if want := trees.want(x, rows, aggregate); !slices.Equal(dst, want) {
							t.Errorf("%v, want %v", dst, want)
						}
					})
				}
			}
		}
	}
}

func TestTreeEnsemble(t *testing.T) {
	t.Run("float32", testTreeEnsemble[float32])
	t.Run("float64", testTreeEnsemble[float64])
}

func TestTreeEnsembleOfTooFewFeatures(t *testing.T) {
	trees := growTrees[float32](rand.New(rand.NewPCG(1, 2)), 1, 2, 4, 1, true)
	trees.features = 3
	err := cpu.TreeEnsemble(make([]float32, 1), make([]float32, 3), trees.nodes, trees.thresholds, trees.roots, nil, nil, trees.weights, nil, 1, 3, 4, 1, "sum")
	if err == nil {
		t.Error("no error")
	}
}

func TestTreeEnsembleEndsOnCircles(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	_ = cpu.TreeEnsemble(make([]float32, 1), make([]float32, 1), []int32{0, 0, 0}, []float32{0}, []int32{0}, nil, nil, []float32{1}, nil, 1, 1, 1, 1, "sum")
}

func BenchmarkTreeEnsemble(b *testing.B) {
	for _, rows := range []int{1, 1000} {
		b.Run(fmt.Sprintf("500x8/%d", rows), func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 2))
			trees := growTrees[float32](r, 500, 8, 30, 1, true)
			x, dst := trees.rowsFor(r, rows), make([]float32, rows)
			rt.Begin()
			defer rt.End()
			for b.Loop() {
				if err := trees.run(dst, x, rows, "sum"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestTreeEnsembleDoesNotAllocate(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	trees := growTrees[float32](r, 3, 4, 6, 3, false)
	x, dst := trees.rowsFor(r, 9), make([]float32, 27)
	if n := testing.AllocsPerRun(10, func() { _ = trees.run(dst, x, 9, "sum") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
