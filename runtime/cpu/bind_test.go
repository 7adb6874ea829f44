package cpu_test

import (
	"math"
	"slices"
	"testing"

	"github.com/burngen/burngen/runtime/cpu"
)

// numbers returns the results of f for 0 to n-1, or nil if one is an error.
func numbers(n int, f func(i int) (int, error)) []int {
	var all []int
	for i := range n {
		v, err := f(i)
		if err != nil {
			return nil
		}
		all = append(all, v)
	}
	return all
}

func TestNumbersOfLists(t *testing.T) {
	shape := []int{2, 3, 4}
	for _, c := range []struct {
		name string
		n    int
		f    func(i int) (int, error)
		want []int // nil for an error
	}{
		{"marked", 6, func(i int) (int, error) { return cpu.MarkedExtent([]int64{-1, 0}, shape, false, i) }, []int{1, 2, 3, 1, 1, 4}},
		{"marked nowhere", 4, func(i int) (int, error) { return cpu.MarkedExtent(nil, []int{2, 0}, false, i) }, []int{2, 1, 0, 1}},
		{"marked nowhere for everywhere", 4, func(i int) (int, error) { return cpu.MarkedExtent(nil, []int{2, 0}, true, i) }, []int{1, 2, 1, 0}},
		{"marked beyond the rank", 4, func(i int) (int, error) { return cpu.MarkedExtent([]int64{2}, []int{2, 0}, false, i) }, nil},
		{"marked far beyond the rank", 4, func(i int) (int, error) { return cpu.MarkedExtent([]int64{math.MinInt64}, []int{2, 0}, false, i) }, nil},
		{"marked twice", 4, func(i int) (int, error) { return cpu.MarkedExtent([]int64{0, -2}, []int{2, 0}, false, i) }, nil},

		{"squeezed", 2, func(i int) (int, error) { return cpu.SqueezedExtent([]int64{1}, []int{2, 1, 4}, 2, i) }, []int{2, 4}},
		{"squeezed to other axes", 1, func(i int) (int, error) { return cpu.SqueezedExtent([]int64{1}, []int{2, 1, 4}, 1, i) }, nil},
		{"squeezed of more than one", 2, func(i int) (int, error) { return cpu.SqueezedExtent([]int64{0}, []int{2, 1, 4}, 2, i) }, nil},
		{"unsqueezed", 4, func(i int) (int, error) { return cpu.UnsqueezedExtent([]int64{-1, 1}, []int{2, 4}, 4, i) }, []int{2, 1, 4, 1}},
		{"unsqueezed to other axes", 3, func(i int) (int, error) { return cpu.UnsqueezedExtent([]int64{0}, []int{2, 4}, 4, i) }, nil},

		{"reshaped", 2, func(i int) (int, error) { return cpu.ReshapedExtent([]int64{0, -1}, shape, false, 2, i) }, []int{2, 12}},
		{"reshaped to none", 2, func(i int) (int, error) { return cpu.ReshapedExtent([]int64{0, 5}, []int{0}, true, 2, i) }, []int{0, 5}},
		{"reshaped to many", 2, func(i int) (int, error) {
			return cpu.ReshapedExtent([]int64{math.MaxInt64, math.MaxInt64}, shape, false, 2, i)
		}, nil},
		{"reshaped to a rest that does not divide", 2, func(i int) (int, error) { return cpu.ReshapedExtent([]int64{5, -1}, shape, false, 2, i) }, nil},
		{"reshaped to two rests", 2, func(i int) (int, error) { return cpu.ReshapedExtent([]int64{-1, -1}, shape, false, 2, i) }, nil},
		{"reshaped to less than -1", 2, func(i int) (int, error) { return cpu.ReshapedExtent([]int64{-2, 12}, shape, false, 2, i) }, nil},
		{"reshaped to a rest beside none", 2, func(i int) (int, error) { return cpu.ReshapedExtent([]int64{0, -1}, shape, true, 2, i) }, nil},

		{"sliced", 12, func(i int) (int, error) { return cpu.SlicePlace([]int64{1}, []int64{9}, nil, nil, shape, i) }, []int{1, 1, 1, 0, 0, 3, 1, 0, 0, 4, 1, 0}},
		{"sliced backwards", 4, func(i int) (int, error) {
			return cpu.SlicePlace([]int64{-1}, []int64{math.MinInt64}, []int64{0}, []int64{-2}, []int{5}, i)
		}, []int{4, 3, 0, 2}},
		{"sliced by steps of 0", 4, func(i int) (int, error) {
			return cpu.SlicePlace([]int64{0}, []int64{1}, []int64{0}, []int64{0}, []int{5}, i)
		}, nil},
		{"sliced by too few ends", 4, func(i int) (int, error) { return cpu.SlicePlace([]int64{0}, nil, nil, nil, []int{5}, i) }, nil},
		{"sliced of too many axes", 4, func(i int) (int, error) {
			return cpu.SlicePlace([]int64{0, 0}, []int64{1, 1}, nil, nil, []int{5}, i)
		}, nil},

		{"padded", 8, func(i int) (int, error) { return cpu.PadPlace([]int64{1, -1, -2, 3}, nil, []int{4, 5}, i) }, []int{0, 2, 1, 3, 1, 4, 0, 7}},
		{"padded on an axis", 8, func(i int) (int, error) { return cpu.PadPlace([]int64{1, 2}, []int64{-1}, []int{4, 5}, i) }, []int{0, 4, 0, 4, 0, 5, 1, 8}},
		{"padded by less than there is", 4, func(i int) (int, error) { return cpu.PadPlace([]int64{-3, -2}, nil, []int{4}, i) }, nil},
		{"padded by the least number", 4, func(i int) (int, error) { return cpu.PadPlace([]int64{math.MinInt64, 0}, nil, []int{4}, i) }, nil},
		{"padded on one side", 4, func(i int) (int, error) { return cpu.PadPlace([]int64{1}, nil, []int{4}, i) }, nil},

		{"counted", 1, func(int) (int, error) { return cpu.RangeCount[int8](-128, 127, 100) }, []int{3}},
		{"counted down", 1, func(int) (int, error) { return cpu.RangeCount[int64](5, -5, -3) }, []int{4}},
		{"counted to the start", 1, func(int) (int, error) { return cpu.RangeCount[uint64](5, 5, 3) }, []int{0}},
		{"counted the wrong way", 1, func(int) (int, error) { return cpu.RangeCount[float32](5, 6, -3) }, []int{0}},
		{"counted by halves", 1, func(int) (int, error) { return cpu.RangeCount[float64](0, 2.25, 0.5) }, []int{5}},
		{"counted by 0", 1, func(int) (int, error) { return cpu.RangeCount[int32](0, 1, 0) }, nil},
		{"counted to NaN", 1, func(int) (int, error) { return cpu.RangeCount(0, float32(math.NaN()), 1) }, nil},
		{"counted through all integers", 1, func(int) (int, error) { return cpu.RangeCount[int64](math.MinInt64, math.MaxInt64, 1) }, nil},

		{"resized", 2, func(i int) (int, error) { return cpu.ResizedExtent([]float64{1.5, 0.1}, []int{3, 4}, false, i) }, []int{4, 0}},
		{"resized to the nearest", 2, func(i int) (int, error) { return cpu.ResizedExtent([]float64{1.5, 0.2}, []int{3, 4}, true, i) }, []int{5, 1}},
		{"resized by nothing", 1, func(i int) (int, error) { return cpu.ResizedExtent([]float64{0}, []int{3}, false, i) }, nil},
		{"resized by too few scales", 1, func(i int) (int, error) { return cpu.ResizedExtent(nil, []int{3}, false, i) }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := numbers(c.n, c.f); !slices.Equal(got, c.want) {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

func TestPadIndex(t *testing.T) {
	for _, c := range []struct {
		mode           string
		n, before, len int
		want           []int64
	}{
		{"edge", 3, 2, 7, []int64{0, 0, 0, 1, 2, 2, 2}},
		{"reflect", 3, 4, 9, []int64{0, 1, 2, 1, 0, 1, 2, 1, 0}},
		{"reflect", 1, 1, 3, []int64{0, 0, 0}},
		{"wrap", 3, 4, 9, []int64{2, 0, 1, 2, 0, 1, 2, 0, 1}},
	} {
		dst := make([]int64, c.len)
		if err := cpu.PadIndex(dst, c.n, c.before, c.mode); err != nil {
			t.Fatal(err)
		}
		expect(t, c.mode, dst, c.want...)
	}
	if cpu.PadIndex(nil, 0, 0, "edge") != nil || cpu.PadIndex(make([]int64, 1), 0, 0, "edge") == nil {
		t.Error("an element of none is not an error, or nothing is one")
	}
}

func TestTopK(t *testing.T) {
	nan := math.NaN()
	src := []float64{1, 3, nan, 3, 2, nan}
	for _, c := range []struct {
		smallest bool
		k        int
		want     []int64
	}{
		{false, 6, []int64{2, 5, 1, 3, 4, 0}},
		{false, 3, []int64{2, 5, 1}},
		{true, 6, []int64{0, 4, 1, 3, 2, 5}},
		{true, 3, []int64{0, 4, 1}},
		{true, 0, []int64{}},
	} {
		values, places := make([]float64, 2*c.k), make([]int64, 2*c.k)
		if err := cpu.TopK(values, places, slices.Concat(src, src), 6, c.k, c.smallest); err != nil {
			t.Fatal(err)
		}
		expect(t, "places", places, slices.Concat(c.want, c.want)...)
		for i, at := range places {
			if v := src[at]; values[i] != v && (v == v || values[i] == values[i]) {
				t.Errorf("value %d is %g, want %g", i, values[i], v)
			}
		}
	}
	if cpu.TopK[float64](nil, nil, nil, 6, 7, false) == nil {
		t.Error("7 of 6 give no error")
	}
}

func TestUnique(t *testing.T) {
	src := []string{"b", "x", "a", "y", "b", "x", "a", "x"}
	order := make([]int64, 4)
	cpu.SortRows(order, src, 2)
	expect(t, "order", order, 3, 1, 0, 2)
	n := cpu.CountUnique(src, order, 2)
	if n != 3 {
		t.Fatalf("%d rows, want 3", n)
	}
	for _, sorted := range []bool{true, false} {
		dst, first, inverse, counts := make([]string, 2*n), make([]int64, n), make([]int64, 4), make([]int64, n)
		cpu.Unique(dst, first, inverse, counts, src, order, 2, sorted)
		if sorted {
			expect(t, "rows", dst, "a", "x", "a", "y", "b", "x")
			expect(t, "places", first, 3, 1, 0)
			expect(t, "inverse", inverse, 2, 1, 2, 0)
			expect(t, "counts", counts, 1, 1, 2)
		} else {
			expect(t, "rows", dst, "b", "x", "a", "y", "a", "x")
			expect(t, "places", first, 0, 1, 3)
			expect(t, "inverse", inverse, 0, 1, 0, 2)
			expect(t, "counts", counts, 2, 1, 1)
		}
	}
}

func TestSelectBoxes(t *testing.T) {
	boxes := []float32{0, 0, 1, 1, 0, 0.1, 1, 1.1, 0, 10, 1, 11, 0, 0, 0, 5}
	scores := []float32{0.9, 0.75, 0.6, float32(math.NaN())}
	for _, c := range []struct {
		name       string
		most       int64
		share, low float32
		bounded    bool
		want       []int32
	}{
		{"all", 9, 1, 0, false, []int32{3, 0, 1, 2}},
		{"no overlap", 9, 0.5, 0, false, []int32{3, 0, 2, -1}},
		{"high scores", 9, 1, 0.7, true, []int32{0, 1, -1, -1}},
		{"one", 1, 1, 0, true, []int32{0, -1, -1, -1}},
		{"less than none", -1, 1, 0, true, []int32{-1, -1, -1, -1}},
	} {
		dst := make([]int32, 4)
		err := cpu.SelectBoxes(dst, boxes, scores, 1, 1, 4, c.most, c.share, c.low, c.bounded, false, make([]int64, 4))
		if err != nil {
			t.Fatal(err)
		}
		expect(t, c.name, dst, c.want...)
	}
	if cpu.SelectBoxes(nil, nil, nil, 1, 1, 0, 1, 1.5, 0, false, false, nil) == nil {
		t.Error("a share of 1.5 is not an error")
	}
}
