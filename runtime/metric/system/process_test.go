package system

import (
	"runtime"
	"testing"
)

// TestHeap asserts that a large object counts.
func TestHeap(t *testing.T) {
	runtime.GC()
	before, err := heap()
	if err != nil {
		t.Fatal(err)
	}
	block := make([]byte, 50e6)
	after, err := heap()
	if err != nil || after < before+25 {
		t.Errorf("%g MB, then %g MB, %v", before, after, err)
	}
	runtime.KeepAlive(block)
}

// TestMegabytes asserts that a megabyte is not a mebibyte.
func TestMegabytes(t *testing.T) {
	if got := megabytes(2_500_000); got != 2.5 {
		t.Errorf("%g, want 2.5", got)
	}
}
