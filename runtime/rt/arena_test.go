package rt

import (
	"math"
	"strings"
	"testing"
	"unsafe"
)

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
