package kernels

import (
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
)

// TestPrefixSums scans rows of one tile, of some, and of more tiles than a block has threads.
func TestPrefixSums(t *testing.T) { limits(t, testPrefixSums) }

func testPrefixSums(t *testing.T) {
	for _, c := range []struct {
		rows, length int
		symbolic     bool
	}{
		{1, 1, false}, {3, 7, false}, {2, scanTile, false}, {2, scanTile + 1, false}, {3, 3*scanTile - 5, true}, {2, 0, false},
		{2, 0, true}, {0, 5, false}, {5, 9, true}, {1, 300 * scanTile, true},
	} {
		rows, length := dim.Const(c.rows), dim.Const(c.length)
		if c.symbolic {
			rows, length = dim.Sym("rows"), dim.Sym("length")
		}
		x, y := &ir.Value{Type: ir.TensorOf(ir.I64, rows, length)}, &ir.Value{Type: ir.TensorOf(ir.I64, rows, length)}
		launches, err := PrefixSums("sums", Scan{
			Rows: rows, Length: length, DType: ir.I64,
			Term: func(e *Emitter, row, i *kernel.Value) *kernel.Value { return e.Read(x).At(row, i) },
			Store: func(e *Emitter, row, i, sum *kernel.Value) {
				e.Write(y).Set(e.Write(y).Offset([]*kernel.Value{row, i}), sum)
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		terms, got := make([]int64, c.rows*c.length), make([]int64, c.rows*c.length)
		for i := range terms {
			terms[i] = int64(i%17) - 5
		}
		m := memory{x: kernel.Memory(terms), y: kernel.Memory(got)}
		for _, l := range launches {
			for _, a := range l.Args {
				if a.Scratch != nil {
					m[a.Scratch] = kernel.Memory(make([]int64, c.rows*((c.length+scanTile-1)/scanTile)))
				}
			}
		}
		m.run(t, map[string]int{"rows": c.rows, "length": c.length}, launches...)
		for i, sum := 0, int64(0); i < len(got); i++ {
			if i%c.length == 0 {
				sum = 0
			}
			if sum += terms[i]; got[i] != sum {
				t.Fatalf("%+v: sum %d is %d, want %d", c, i, got[i], sum)
			}
		}
	}
}
