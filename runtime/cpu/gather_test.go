package cpu_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	_ "github.com/burngen/burngen/internal/seeded"
	"github.com/burngen/burngen/runtime/cpu"
)

// coordinates calls f with the coordinates of every element of an array, in
// row-major order.
func coordinates(shape []int, f func(at []int)) {
	at := make([]int, len(shape))
	var walk func(axis int)
	walk = func(axis int) {
		if axis == len(shape) {
			f(at)
			return
		}
		for at[axis] = 0; at[axis] < shape[axis]; at[axis]++ {
			walk(axis + 1)
		}
	}
	walk(0)
}

// place returns the row-major number of an element.
func place(at, shape []int) int {
	n := 0
	for i, d := range shape {
		n = n*d + at[i]
	}
	return n
}

// product returns the number of elements of an array.
func product(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// drawElements draws an array, an axis and indices of single elements along it.
func drawElements(t *rapid.T) (array, shape []int, axis int, idx []int64) {
	rank := rapid.IntRange(1, 4).Draw(t, "rank")
	axis = rapid.IntRange(0, rank-1).Draw(t, "axis")
	array, shape = make([]int, rank), make([]int, rank)
	for i := range array {
		array[i] = rapid.IntRange(0, 5).Draw(t, "extent")
		most := array[i]
		if i == axis {
			most = 2 * array[i]
		}
		shape[i] = rapid.IntRange(0, most).Draw(t, "indices")
	}
	idx = make([]int64, product(shape))
	for i := range idx {
		idx[i] = int64(rapid.IntRange(-array[axis], array[axis]-1).Draw(t, "index"))
	}
	return array, shape, axis, idx
}

// counted returns n numbers other than 0.
func counted[T cpu.Number](n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(i + 1)
	}
	return x
}

// wrapped returns an index counted from the front.
func wrapped(k int64, dim int) int { return (int(k) + dim) % dim }

func TestGatherElements(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		array, shape, axis, idx := drawElements(t)
		src := counted[int32](product(array))
		var want []int32
		coordinates(shape, func(at []int) {
			from := slices.Clone(at)
			from[axis] = wrapped(idx[place(at, shape)], array[axis])
			want = append(want, src[place(from, array)])
		})
		got := make([]int32, len(idx))
		if err := cpu.GatherElements(got, src, idx, shape, array, axis); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v of %v on axis %d:\ngot  %v\nwant %v", shape, array, axis, got, want)
		}
	})
}

func TestGatherND(t *testing.T) {
	src := counted[int16](2 * 3 * 4)
	for _, c := range []struct {
		name           string
		batches, inner int
		extents        []int
		idx            []int32
		want           []int16
	}{
		{"elements", 1, 1, []int{2, 3, 4}, []int32{0, 0, 0, 1, 2, 3, -1, -3, 1}, []int16{1, 24, 14}},
		{"slices", 1, 4, []int{2, 3}, []int32{1, 0, 0, -1}, []int16{13, 14, 15, 16, 9, 10, 11, 12}},
		{"leading axis", 1, 12, []int{2}, []int32{-1}, []int16{13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24}},
		{"batches", 2, 4, []int{3}, []int32{1, 0, 2, 2}, []int16{5, 6, 7, 8, 1, 2, 3, 4, 21, 22, 23, 24, 21, 22, 23, 24}},
		{"batches of elements", 6, 1, []int{4}, []int32{0, 1, 2, 3, -1, -2}, []int16{1, 6, 11, 16, 20, 23}},
		{"nothing", 1, 4, []int{2, 3}, nil, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := make([]int16, len(c.want))
			tuples := len(c.idx) / len(c.extents) / c.batches
			if err := cpu.GatherND(got, src, c.idx, c.batches, tuples, c.extents, c.inner); err != nil {
				t.Fatal(err)
			}
			expect(t, c.name, got, c.want...)
		})
	}
}

func TestGatherStrings(t *testing.T) {
	src := []string{"a", "b", "c", "d"}
	got := make([]string, 2)
	if err := cpu.GatherElements(got, src, []int64{1, 0}, []int{2, 1}, []int{2, 2}, 1); err != nil {
		t.Fatal(err)
	}
	expect(t, "elements", got, "b", "c")
	if err := cpu.GatherND(got, src, []int64{1}, 1, 1, []int{2}, 2); err != nil {
		t.Fatal(err)
	}
	expect(t, "slices", got, "c", "d")
}

// An index outside its axis gives an error that names it.
func TestIndexErrors(t *testing.T) {
	x, u := make([]float32, 12), make([]float32, 2)
	for name, run := range map[string]func(k int64) error{
		"gather elements":  func(k int64) error { return cpu.GatherElements(u, x, []int64{0, k}, []int{1, 2}, []int{4, 3}, 1) },
		"gather slices":    func(k int64) error { return cpu.GatherND(u, x, []int64{1, 0, 0, k}, 1, 2, []int{4, 3}, 1) },
		"scatter elements": func(k int64) error { return cpu.ScatterElements(x, x, []int64{0, k}, u, []int{2, 1}, []int{4, 3}, 1) },
		"scatter slices":   func(k int64) error { return cpu.ScatterND(x, x, []int64{1, 0, 0, k}, u, []int{4, 3}, 1) },
		"add elements": func(k int64) error {
			return cpu.ScatterElementsAdd(x, x, []int64{k, 0}, u, []int{1, 2}, []int{4, 3}, 1)
		},
		"add slices": func(k int64) error { return cpu.ScatterNDAdd(x, x, []int64{3, k}, u[:1], []int{4, 3}, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			for _, k := range []int64{3, -4, math.MaxInt64, math.MinInt64, 1 << 32} {
				var wrong *cpu.IndexError
				if err := run(k); !errors.As(err, &wrong) || wrong.Index != k || wrong.Dim != 3 {
					t.Errorf("index %d: %v", k, err)
				}
			}
			for _, k := range []int64{2, -3} {
				if err := run(k); err != nil {
					t.Errorf("index %d: %v", k, err)
				}
			}
		})
	}
	t.Run("more indices than elements", func(t *testing.T) {
		var wrong *cpu.IndexError
		err := cpu.GatherElements(x, x, make([]int32, 12), []int{6, 2}, []int{4, 3}, 1)
		if !errors.As(err, &wrong) || wrong.Index != 5 || wrong.Dim != 4 {
			t.Error(err)
		}
		err = cpu.ScatterElements(x, x, make([]int32, 8), x, []int{2, 4}, []int{4, 3}, 0)
		if !errors.As(err, &wrong) || wrong.Index != 3 || wrong.Dim != 3 {
			t.Error(err)
		}
	})
	t.Run("text", func(t *testing.T) {
		err := cpu.Gather(u, x, []int64{-5}, 1, 3, 1)
		if want := "cpu: index -5 of an axis of 3"; err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	})
	t.Run("no elements", func(t *testing.T) {
		if cpu.GatherElements(u, x[:0], []int32{0, 0}, []int{2}, []int{0}, 0) == nil {
			t.Error("gather elements: no error")
		}
		if cpu.GatherND(u, x[:0], []int32{0, 0}, 1, 2, []int{0}, 1) == nil {
			t.Error("gather slices: no error")
		}
		if cpu.ScatterND(x[:0], x[:0], []int32{0, 0}, u, []int{0}, 1) == nil {
			t.Error("scatter slices: no error")
		}
	})
}
