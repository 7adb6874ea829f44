package rt

import (
	"math"
	"testing"
)

func TestTailDoesNotAllocateTwice(t *testing.T) {
	var tail Tail
	var a, b []byte
	run := func() {
		tail.Reset()
		for i, dst := range []*[]byte{&a, &b} {
			var z Sizes
			if err := tail.Place(dst, z.Mul(100, int64(i+1)), &z, "test"); err != nil {
				t.Fatal(err)
			}
		}
	}
	run()
	if n := testing.AllocsPerRun(10, run); n != 0 {
		t.Errorf("%g allocations in later calls", n)
	}
	if len(a) != 100 || len(b) != 200 || overlap(a, b) {
		t.Errorf("%d and %d bytes, overlapping %v", len(a), len(b), overlap(a, b))
	}
}

func TestTailReleases(t *testing.T) {
	var tail Tail
	var z Sizes
	var a, b []byte
	for range 2 {
		tail.Reset()
		mark := tail.Mark()
		if err := tail.Place(&a, 64, &z, "test"); err != nil {
			t.Fatal(err)
		}
		tail.Release(mark)
		if err := tail.Place(&b, 64, &z, "test"); err != nil {
			t.Fatal(err)
		}
	}
	if !overlap(a, b) {
		t.Error("memory that was released is not used again")
	}
}

func TestTailRefusesImpossibleSizes(t *testing.T) {
	var tail Tail
	var dst []byte
	for _, bytes := range []int64{-1, math.MaxInt64} {
		var z Sizes
		if err := tail.Place(&dst, bytes, &z, "test"); err == nil {
			t.Errorf("%d bytes were placed", bytes)
		}
	}
}
