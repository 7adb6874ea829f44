package kernels

import (
	"fmt"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
)

// TestMapLanes adds a vector to each row of a matrix, in place, for shapes that lanes divide and others.
func TestMapLanes(t *testing.T) {
	limits(t, func(t *testing.T) {
		for _, shape := range [][]int{{5, 800}, {7, 36}, {9, 35}, {3, 3}, {1, 1}, {2050, 1}} {
			for _, symbolic := range []bool{false, true} {
				for _, lanes := range []int{1, 2, 4, 8} {
					t.Run(fmt.Sprint(shape, symbolic, lanes), func(t *testing.T) {
						dims, symbols := extentsOf(symbolic, shape...)
						addVector(t, dims, symbols, shape, lanes)
					})
				}
			}
		}
	})
}

func addVector(t *testing.T, dims []dim.Dim, symbols map[string]int, shape []int, lanes int) {
	rows, columns := shape[0], shape[1]
	x, v := &ir.Value{Type: ir.TensorOf(ir.I32, dims...)}, &ir.Value{Type: ir.TensorOf(ir.I32, dims[1])}
	numbers, vector := make([]int32, rows*columns), make([]int32, columns)
	for i := range numbers {
		numbers[i] = int32(1000 * i)
	}
	for i := range vector {
		vector[i] = int32(i)
	}
	l, err := MapLanes("map", dims, lanes, func(e *Emitter, at []*kernel.Value, i *kernel.Value) {
		m := e.Write(x)
		m.Set(i, e.Add(m.Get(i), e.Read(v).Get(at[1])))
	})
	if err != nil {
		t.Fatal(err)
	}
	memory{x: kernel.Memory(numbers), v: kernel.Memory(vector)}.run(t, symbols, l)
	for i, got := range numbers {
		if want := int32(1000*i + i%columns); got != want {
			t.Fatalf("element %d is %d, want %d\n%s", i, got, want, l.Kernel)
		}
	}
	if l.Kernel.HasVectors() != (lanes > 1) {
		t.Errorf("vectors: %v", l.Kernel.HasVectors())
	}
}

// TestLanesOf asserts that few elements have a thread each, and that long formulas have fewer lanes.
func TestLanesOf(t *testing.T) {
	for _, c := range []struct {
		total            dim.Dim
		size, work, want int
	}{
		{dim.Const(1000), 4, 1, 1},
		{dim.Const(1 << 20), 4, 1, 4},
		{dim.Sym("N"), 2, 10, 8},
		{dim.Sym("N"), 1, 10, 8},
		{dim.Sym("N"), 2, 40, 2},
		{dim.Sym("N"), 2, 1000, 1},
		{dim.Sym("N"), 16, 1, 1},
	} {
		if got := LanesOf(c.total, c.size, c.work); got != c.want {
			t.Errorf("%s elements of %d bytes, work %d: %d lanes, want %d", c.total, c.size, c.work, got, c.want)
		}
	}
}
