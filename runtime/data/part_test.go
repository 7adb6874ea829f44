package data_test

import (
	"math"
	"slices"
	"testing"

	"github.com/burngen/burngen/runtime/data"
)

func TestPart(t *testing.T) {
	laws(t, data.Part(numbers(10), 3, 6), []int{3, 4, 5})
	laws(t, data.Part(numbers(10), 3, 3), nil)
	laws(t, data.Part(numbers(10), 0, 10), upTo(10))
	laws(t, data.Part(data.Part(numbers(10), 3, 9), 1, 3), []int{4, 5})
	for want, ends := range map[string][2]int{
		"part: items -1 to 3: there are 10 items": {-1, 3},
		"part: items 4 to 3: there are 10 items":  {4, 3},
		"part: items 0 to 11: there are 10 items": {0, 11},
	} {
		wantError(t, data.Err(data.Part(numbers(10), ends[0], ends[1])), want)
	}
	for from, want := range map[int]int{0: 4, 8: 4, 3: 0} {
		if block := data.Part(data.Dataset[int](&blocks{n: 20, block: 4}), from, 19).(data.Blocked).Block(); block != want {
			t.Errorf("from item %d on there are blocks of %d, want %d", from, block, want)
		}
	}
}

func TestParts(t *testing.T) {
	for _, tt := range []struct {
		n      int
		shares []float64
		sizes  []int
	}{
		{10, []float64{0.8, 0.2}, []int{8, 2}},
		{10, []float64{0.84, 0.16}, []int{8, 2}},
		{10, []float64{0.86, 0.14}, []int{9, 1}},
		{10, []float64{0.1, 0.2, 0.3, 0.4}, []int{1, 2, 3, 4}},
		{7, []float64{1. / 3, 1. / 3, 1. / 3}, []int{2, 3, 2}},
		{3, []float64{0.7, 0.1, 0.1, 0.1}, []int{2, 0, 1, 0}},
		{10, []float64{0.5, 0.2}, []int{5, 2}},
		{10, []float64{0, 1}, []int{0, 10}},
		{10, []float64{1, 0}, []int{10, 0}},
		{0, []float64{0.5, 0.5}, []int{0, 0}},
		{10, nil, nil},
	} {
		parts := data.Parts(numbers(tt.n), tt.shares...)
		var sizes, all []int
		for _, p := range parts {
			sizes, all = append(sizes, p.Len()), append(all, items(t, p)...)
		}
		if !slices.Equal(sizes, tt.sizes) || !slices.Equal(all, upTo(len(all))) {
			t.Errorf("%d items in %v: sizes %v, want %v; items %v", tt.n, tt.shares, sizes, tt.sizes, all)
		}
	}
	for _, shares := range [][]float64{{-0.1, 0.5}, {0.8, 0.3}, {math.NaN()}, {math.Inf(1)}, {1.5, -0.5}} {
		for i, p := range data.Parts(numbers(10), shares...) {
			if data.Err(p) == nil || p.Len() != 0 {
				t.Errorf("%v: part %d has %d items, and no error", shares, i, p.Len())
			}
		}
	}
}
