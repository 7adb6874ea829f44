package gpu

import (
	"context"
	"slices"
	"testing"
	"unsafe"
)

// TestAlignedVectors passes memory that does not begin at a multiple of 16 bytes to a kernel that needs such addresses.
func TestAlignedVectors(t *testing.T) {
	for _, vectors := range []bool{false, true} {
		f, r := opened(t)
		compute, apart := f.kernels["double"], 0
		f.kernels["double"] = func(args []uint64) {
			for _, at := range args[1:] {
				if at%16 != 0 {
					apart++
				}
			}
			compute(args)
		}
		k := *double
		k.Vectors = vectors
		arena, w := make([]byte, 256), &nothing{}
		of := func(from, n int) []float32 {
			return unsafe.Slice((*float32)(unsafe.Pointer(&arena[4*from])), n)
		}
		x, y := []float32{1, 2, 3, 4, 5}, make([]float32, 5)
		for range 3 {
			call := func() (err error) {
				if err := Begin(r, context.Background(), arena, w, In(x), Out(y)); err != nil {
					return err
				}
				defer r.End(&err)
				if r.Replays("vectors") {
					return nil
				}
				r.Launch(&k, 1, 1, 1, Int(5), In(x), Out(of(1, 5)))
				r.Launch(&k, 1, 1, 1, Int(3), In(of(2, 3)), Out(of(9, 3)))
				r.Launch(&k, 1, 1, 1, Int(3), In(of(9, 3)), Out(of(2, 3))) // the elements around stay
				r.Launch(&k, 1, 1, 1, Int(5), In(of(1, 5)), Out(y))
				return nil
			}
			if err := call(); err != nil {
				t.Fatal(err)
			}
			if want := []float32{4, 32, 48, 64, 20}; !slices.Equal(y, want) {
				t.Errorf("vectors %v: %v, want %v", vectors, y, want)
			}
			clear(y)
		}
		if vectors && apart > 0 {
			t.Errorf("%d addresses are not multiples of 16", apart)
		}
		if vectors == (f.counts["replay"] > 0) {
			t.Errorf("vectors %v: %d replays", vectors, f.counts["replay"])
		}
	}
}
