package rt

import (
	"math"
	"strings"
	"testing"
	"unsafe"
)

func TestElems(t *testing.T) {
	for _, tt := range []struct {
		shape []int
		want  int
		err   string
	}{
		{nil, 1, ""},
		{[]int{3, 4}, 12, ""},
		{[]int{3, 0, 4}, 0, ""},
		{[]int{math.MaxInt}, math.MaxInt, ""},
		{[]int{-1}, 0, "negative"},
		{[]int{0, -1}, 0, "negative"},
		{[]int{math.MaxInt, 2}, 0, "more elements"},
		{[]int{0, math.MaxInt, 2}, 0, "more elements"},
	} {
		got, err := Elems(tt.shape)
		if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("Elems(%v) = %d, %v", tt.shape, got, err)
		}
	}
}

func TestTensorCheck(t *testing.T) {
	for _, tt := range []struct {
		tensor Tensor[int8]
		ok     bool
	}{
		{Tensor[int8]{make([]int8, 6), []int{2, 3}}, true},
		{Tensor[int8]{make([]int8, 1), nil}, true},
		{Tensor[int8]{nil, []int{0, 7}}, true},
		{Tensor[int8]{}, false},
		{Tensor[int8]{make([]int8, 5), []int{2, 3}}, false},
		{Tensor[int8]{make([]int8, 6), []int{-2, -3}}, false},
	} {
		if err := tt.tensor.Check(); (err == nil) != tt.ok {
			t.Errorf("%v: %v", tt.tensor, err)
		}
	}
}

func TestFlat(t *testing.T) {
	type Image = [2][3]float32
	images := []Image{{{0, 1, 2}, {3, 4, 5}}, {{6, 7, 8}, {9, 10, 11}}}
	flat := Flat[float32](images)
	if len(flat) != 12 || cap(flat) != 12 {
		t.Fatalf("%d elements, room for %d", len(flat), cap(flat))
	}
	for i, v := range flat {
		if v != float32(i) {
			t.Errorf("element %d is %v", i, v)
		}
	}
	flat[7] = -1
	if images[1][0][1] != -1 {
		t.Error("not the same memory")
	}
	one := FlatOf[float32](&images[1])
	if len(one) != 6 || &one[0] != &flat[6] {
		t.Error("FlatOf is not the second image")
	}
	if n := testing.AllocsPerRun(100, func() { flat = Flat[float32](images) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	t.Run("nothing", func(t *testing.T) {
		if got := Flat[float32]([]Image(nil)); got != nil {
			t.Error(got)
		}
		if got := FlatOf[float32]((*Image)(nil)); got != nil {
			t.Error(got)
		}
		if got := Flat[float32]([][0]float32{{}, {}}); got != nil {
			t.Error(got)
		}
	})
	t.Run("an array of something else", func(t *testing.T) {
		if got := Flat[float64]([][3]byte{{}, {}}); got != nil {
			t.Error(got)
		}
		if got := Flat[float64]([][8]byte{{}, {}}); got != nil {
			t.Error("an array of bytes need not be aligned")
		}
	})
	t.Run("larger than a stack", func(t *testing.T) {
		x := make([][1 << 20][16]float64, 1)
		if got := Flat[float64](x); len(got) != 16<<20 {
			t.Error(len(got))
		}
		if n := testing.AllocsPerRun(10, func() { Flat[float64](x) }); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

func TestArena(t *testing.T) {
	for _, n := range []int64{0, 1, 63, 64, 65, 1 << 20} {
		arena, err := NewArena(n)
		if err != nil || int64(len(arena)) != n || arena == nil {
			t.Fatalf("NewArena(%d) has %d bytes, error %v", n, len(arena), err)
		}
		if n > 0 && uintptr(unsafe.Pointer(&arena[0]))%alignment != 0 {
			t.Errorf("NewArena(%d) is not aligned", n)
		}
	}
	defer ArenaLimit(ArenaLimit(math.MaxInt64))
	for _, n := range []int64{-1, math.MinInt64, math.MaxInt64, math.MaxInt64 - 64, math.MaxInt64 - 200, math.MaxInt} {
		if _, err := NewArena(n); err == nil {
			t.Errorf("NewArena(%d): no error", n)
		}
	}
	if got := ArenaLimit(100); got != math.MaxInt64 {
		t.Errorf("limit was %d", got)
	}
	if got := ArenaLimit(0); got != 100 {
		t.Errorf("limit is %d", got)
	}
	if _, err := NewArena(101); err == nil || !strings.Contains(err.Error(), "limit is 100") {
		t.Errorf("over the limit: %v", err)
	}
	if _, err := NewArena(100); err != nil {
		t.Error(err)
	}
}

func TestView(t *testing.T) {
	arena, err := NewArena(256)
	if err != nil {
		t.Fatal(err)
	}
	v := View[float32](arena, 64, 16)
	if len(v) != 16 || cap(v) != 16 || unsafe.Pointer(&v[0]) != unsafe.Pointer(&arena[64]) {
		t.Error("wrong view")
	}
	if v := View[int64](arena, 0, 32); len(v) != 32 {
		t.Error("wrong view of everything")
	}
	if v := View[int64](arena, 256, 0); len(v) != 0 {
		t.Error("wrong empty view")
	}
	for _, tt := range [][2]int{{0, 33}, {256, 1}, {257, 1}, {8, 32}, {-8, 1}, {0, -1}, {0, math.MaxInt}, {math.MaxInt, 1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("View(%d, %d): no panic", tt[0], tt[1])
				}
			}()
			View[int64](arena, tt[0], tt[1])
		}()
	}
}
