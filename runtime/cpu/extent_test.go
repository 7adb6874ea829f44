package cpu

import (
	"math"
	"slices"
	"testing"
)

func TestNonZero(t *testing.T) {
	src := []float32{0, 1, float32(math.NaN()), 0, float32(math.Copysign(0, -1)), 2}
	n := CountNonZero(src)
	if n != 3 {
		t.Fatalf("%d elements are not zero", n)
	}
	dst := make([]int64, 2*n)
	NonZero(dst, src, []int{2, 3})
	if want := []int64{0, 0, 1, 1, 2, 2}; !slices.Equal(dst, want) {
		t.Errorf("places %v, want %v", dst, want)
	}
	NonZero(nil, []bool{true}, nil)
}

func TestExtent(t *testing.T) {
	if n, err := Extent([]int64{3, 4}, 1); n != 4 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if _, err := Extent([]int64{-1}, 0); err == nil {
		t.Error("a negative extent is taken")
	}
	if _, err := Extent([]uint64{math.MaxUint64}, 0); err == nil {
		t.Error("an extent that does not fit is taken")
	}
}
