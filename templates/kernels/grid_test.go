package kernels

import (
	"fmt"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
)

// limits calls run with grids of at most two blocks in each dimension, and then without such a limit.
func limits(t *testing.T, run func(t *testing.T)) {
	before := maxBlocks
	defer func() { maxBlocks = before }()
	for _, maxBlocks = range []int{2, before} {
		t.Run(fmt.Sprint(maxBlocks, " blocks"), run)
	}
}

// extentsOf returns extents as constants, or as the symbols a, b and so on with these values.
func extentsOf(symbolic bool, values ...int) (dims []dim.Dim, symbols map[string]int) {
	symbols = map[string]int{}
	for i, n := range values {
		d := dim.Const(n)
		if symbolic {
			name := string(rune('a' + i))
			d, symbols[name] = dim.Sym(name), n
		}
		dims = append(dims, d)
	}
	return dims, symbols
}

// TestGrids asserts that kernels compute everything if there are fewer blocks than tiles, rows or elements.
func TestGrids(t *testing.T) {
	limits(t, func(t *testing.T) {
		for _, symbolic := range []bool{false, true} {
			t.Run(fmt.Sprint("symbolic ", symbolic), func(t *testing.T) {
				testMap(t, symbolic)
				testRows(t, symbolic)
				testProduct(t, symbolic)
			})
		}
	})
}

// testMap numbers elements.
func testMap(t *testing.T, symbolic bool) {
	shape, symbols := extentsOf(symbolic, 7, 300)
	y, got := &ir.Value{Type: ir.TensorOf(ir.I32, shape...)}, make([]int32, 7*300)
	l, err := Map("map", shape, func(e *Emitter, at []*kernel.Value, i *kernel.Value) {
		e.Write(y).Set(i, e.Add(e.Mul(at[0], e.Int(1000)), at[1]))
	})
	if err != nil {
		t.Fatal(err)
	}
	memory{y: kernel.Memory(got)}.run(t, symbols, l)
	for i, v := range got {
		if want := int32(i/300*1000 + i%300); v != want {
			t.Fatalf("map: element %d is %d, want %d", i, v, want)
		}
	}
}

// testRows adds up rows with [Reduce] and [Rows].
func testRows(t *testing.T, symbolic bool) {
	const rows, length = 5, 700
	shape, symbols := extentsOf(symbolic, rows, length)
	x, y := &ir.Value{Type: ir.TensorOf(ir.I32, shape...)}, &ir.Value{Type: ir.TensorOf(ir.I32, shape[0])}
	terms := make([]int32, rows*length)
	for i := range terms {
		terms[i] = int32(i % 31)
	}
	term := func(e *Emitter, row, i *kernel.Value) *kernel.Value { return e.Read(x).At(row, i) }
	plus := func(e *Emitter, s, t []*kernel.Value) []*kernel.Value { return []*kernel.Value{e.Add(s[0], t[0])} }
	reduce, err := Reduce("reduce", shape[0], shape[1], Reduction{
		Start: func(e *Emitter) []*kernel.Value { return []*kernel.Value{e.Int(0)} },
		Add: func(e *Emitter, s []*kernel.Value, row, i *kernel.Value) []*kernel.Value {
			return plus(e, s, []*kernel.Value{term(e, row, i)})
		},
		Join:  plus,
		Store: func(e *Emitter, row *kernel.Value, s []*kernel.Value) { e.Write(y).Set(row, s[0]) },
	})
	if err != nil {
		t.Fatal(err)
	}
	each, err := Rows("rows", shape[0], shape[1], func(r *Row) {
		sum := r.Sum(r.Int(0), func(i *kernel.Value) *kernel.Value { return term(r.Emitter, r.Index, i) })
		r.Do(r.Eq(r.Thread(0), r.Int(0)), func() { r.Write(y).Set(r.Index, sum) })
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []Launch{reduce, each} {
		got := make([]int32, rows)
		memory{x: kernel.Memory(terms), y: kernel.Memory(got)}.run(t, symbols, l)
		for row, sum := range got {
			want := int32(0)
			for _, v := range terms[row*length:][:length] {
				want += v
			}
			if sum != want {
				t.Fatalf("%s: row %d is %d, want %d", l.Kernel.Name, row, sum, want)
			}
		}
	}
}

// testProduct multiplies matrices of several tiles.
func testProduct(t *testing.T, symbolic bool) {
	const batch, m, n, k = 3, tileM + 5, 2*tileN + 9, 5
	d, symbols := extentsOf(symbolic, batch, m, n, k)
	a, b := &ir.Value{Type: ir.TensorOf(ir.I32, d[0], d[1], d[3])}, &ir.Value{Type: ir.TensorOf(ir.I32, d[0], d[3], d[2])}
	y := &ir.Value{Type: ir.TensorOf(ir.I32, d[0], d[1], d[2])}
	l, err := Product("product", Factors{
		Batch: d[0], M: d[1], N: d[2], K: d[3], DType: ir.I32, RowsB: true,
		A: func(e *Emitter, batch, m, k *kernel.Value) *kernel.Value { return e.Read(a).At(batch, m, k) },
		B: func(e *Emitter, batch, k, n *kernel.Value) *kernel.Value { return e.Read(b).At(batch, k, n) },
		Store: func(e *Emitter, batch, m, n, sum *kernel.Value) {
			e.Write(y).Set(e.Write(y).Offset([]*kernel.Value{batch, m, n}), sum)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	left, right, got := make([]int32, batch*m*k), make([]int32, batch*k*n), make([]int32, batch*m*n)
	for i := range left {
		left[i] = int32(i%13) - 6
	}
	for i := range right {
		right[i] = int32(i%11) - 5
	}
	memory{a: kernel.Memory(left), b: kernel.Memory(right), y: kernel.Memory(got)}.run(t, symbols, l)
	for at, sum := range got {
		i, row, column, want := at/(m*n), at/n%m, at%n, int32(0)
		for l := range k {
			want += left[(i*m+row)*k+l] * right[(i*k+l)*n+column]
		}
		if sum != want {
			t.Fatalf("product: element (%d, %d, %d) is %d, want %d", i, row, column, sum, want)
		}
	}
}
