package rt

import (
	"math"
	"testing"
	"unsafe"
)

func TestMake(t *testing.T) {
	for _, n := range []int{0, 1, 17} {
		x := Make[float64](n)
		if len(x) != n || cap(x) != n || n > 0 && uintptr(unsafe.Pointer(&x[0]))%alignment != 0 {
			t.Errorf("%d elements: length %d, room for %d", n, len(x), cap(x))
		}
	}
}

func TestResize(t *testing.T) {
	var x Tensor[int32]
	for _, shape := range [][]int{{2, 3}, {}, {0, 5}, {6}, {7, 2}} {
		if err := x.Resize("here", shape...); err != nil {
			t.Fatal(err)
		}
		if err := x.Check(); err != nil {
			t.Error(err)
		}
	}
	if n := testing.AllocsPerRun(100, func() {
		if x.Resize("here", 3, 2) != nil || x.Resize("here", 14) != nil {
			t.Error("error")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	wantError(t, x.Resize("here", -1), "here: tensor: shape [-1] has a negative extent")
	if x.Resize("here", math.MaxInt, math.MaxInt) == nil {
		t.Error("no error for a shape that does not fit")
	}
}

func TestFloorDivOfInts(t *testing.T) {
	for _, tt := range [][3]int{{7, 2, 3}, {-7, 2, -4}, {7, -2, -4}, {-7, -2, 3}, {6, 3, 2}, {-6, 3, -2}, {5, 0, 0}} {
		if got := FloorDiv(tt[0], tt[1]); got != tt[2] {
			t.Errorf("FloorDiv(%d, %d) = %d", tt[0], tt[1], got)
		}
	}
}
