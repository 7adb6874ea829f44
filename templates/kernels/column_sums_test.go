package kernels

import (
	"fmt"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// TestReduceColumns adds up columns: of few and many rows, with widths that lanes divide and others.
func TestReduceColumns(t *testing.T) {
	for _, shape := range [][3]int{{1, 1, 32}, {1, 200, 33}, {1, 700, 40}, {3, 70, 64}, {2, 5, 300}, {1, 0, 64}} {
		for _, symbolic := range []bool{false, true} {
			t.Run(fmt.Sprint(shape, symbolic), func(t *testing.T) {
				limits(t, func(t *testing.T) { sumColumns(t, shape, symbolic) })
			})
		}
	}
}

func sumColumns(t *testing.T, shape [3]int, symbolic bool) {
	dims, symbols := extentsOf(symbolic, shape[:]...)
	x, y := &ir.Value{Type: ir.TensorOf(ir.I32, dims...)}, &ir.Value{Type: ir.TensorOf(ir.I32, dims[0], dims[2])}
	numbers, got, want := make([]int32, shape[0]*shape[1]*shape[2]), make([]int32, shape[0]*shape[2]), make([]int32, shape[0]*shape[2])
	for i := range numbers {
		numbers[i] = int32(i%19 + i/7)
		want[i/(shape[1]*shape[2])*shape[2]+i%shape[2]] += numbers[i]
	}
	plus := func(e *Emitter, s, t []*kernel.Value) []*kernel.Value { return []*kernel.Value{e.Add(s[0], t[0])} }
	launches, err := ReduceColumns("columns", Columns{
		Outer: dims[0], Rows: dims[1], Inner: dims[2], Size: 4,
		Start: func(e *Emitter) []*kernel.Value { return []*kernel.Value{e.Int(0)} },
		Add: func(e *Emitter, s []*kernel.Value, i *kernel.Value) []*kernel.Value {
			return plus(e, s, []*kernel.Value{e.Read(x).Get(i)})
		},
		Join: plus,
		Store: func(e *Emitter, column *kernel.Value, s []*kernel.Value) {
			e.Write(y).Set(column, s[0])
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	m := memory{x: kernel.Memory(numbers), y: kernel.Memory(got)}
	for _, l := range launches {
		for _, a := range l.Args {
			if _, ok := m[a.Scratch]; a.Scratch != nil && !ok {
				m[a.Scratch] = kernel.Memory(make([]int32, partsMost*len(got)))
			}
		}
	}
	m.run(t, symbols, launches...)
	for i, v := range got {
		if v != want[i] {
			t.Fatalf("column %d is %d, want %d", i, v, want[i])
		}
	}
}
