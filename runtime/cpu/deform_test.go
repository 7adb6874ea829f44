package cpu_test

import (
	"testing"

	"github.com/burngen/burngen/runtime/cpu"
)

// A cell that moves by an offset is interpolated between its neighbours, and zero outside.
func TestDeformColumns(t *testing.T) {
	src := []float32{1, 2, 4, 8} // one row of one channel
	columns := func(offset float32, factors []float32) []float32 {
		dst := make([]float32, 2*3) // a kernel of 2 cells at 3 places
		offsets := make([]float32, 2*3)
		for i := range offsets {
			offsets[i] = offset
		}
		cpu.DeformColumns(dst, src, offsets, factors, 1, 1, 1, []int{4}, []int{3}, []int{2}, []int{1}, []int{1}, []int{0})
		return dst
	}
	for _, c := range []struct {
		offset  float32
		factors []float32
		want    []float32
	}{
		{0, nil, []float32{1, 2, 4, 2, 4, 8}},
		{0.5, nil, []float32{1.5, 3, 6, 3, 6, 4}},
		{-1, nil, []float32{0, 1, 2, 1, 2, 4}},
		{-0.25, nil, []float32{0.75, 1.75, 3.5, 1.75, 3.5, 7}},
		{100, nil, make([]float32, 6)},
		{0, []float32{1, 0, 2, 3, 0.5, 1}, []float32{1, 0, 8, 6, 2, 8}},
	} {
		got := columns(c.offset, c.factors)
		for i, w := range c.want {
			if got[i] != w {
				t.Errorf("offset %v, factors %v: %v, want %v", c.offset, c.factors, got, c.want)
				break
			}
		}
	}
}
