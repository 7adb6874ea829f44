package cpu

import (
	"slices"
	"testing"
)

func TestRepeat(t *testing.T) {
	for _, c := range []struct{ n, period int }{{0, 1}, {1, 1}, {7, 1}, {7, 3}, {16, 16}, {33, 16}, {5, 16}, {64, 16}} {
		src := make([]int32, c.period)
		for i := range src {
			src[i] = int32(i + 1)
		}
		dst := make([]int32, c.n)
		Repeat(dst, src)
		for i, v := range dst {
			if v != int32(i%c.period+1) {
				t.Errorf("%d elements of period %d: element %d is %d", c.n, c.period, i, v)
			}
		}
	}
}

func TestConcat(t *testing.T) {
	dst := make([]int, 10)
	Concat(dst, 2, []int{2, 0, 3}, []int{1, 2, 6, 7}, nil, []int{3, 4, 5, 8, 9, 10})
	if want := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}; !slices.Equal(dst, want) {
		t.Errorf("got %v", dst)
	}
}

func TestElements(t *testing.T) {
	dst := make([]int64, 3)
	Elements(dst, 4, 0, -1)
	if want := []int64{4, 0, -1}; !slices.Equal(dst, want) {
		t.Errorf("got %v", dst)
	}
}
