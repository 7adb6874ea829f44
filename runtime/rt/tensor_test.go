package rt

import (
	"math"
	"strings"
	"testing"
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
