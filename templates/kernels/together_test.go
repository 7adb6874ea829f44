package kernels

import (
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
)

// TestVectors asserts which elements [Emitter.together] loads at once: adjacent ones that begin at a multiple, and the
// same element for all lanes.
func TestVectors(t *testing.T) {
	const rows, columns = 3, 16
	tensor := func(d ir.DType, shape ...int) *ir.Value {
		dims := make([]dim.Dim, len(shape))
		for i, n := range shape {
			dims[i] = dim.Const(n)
		}
		return &ir.Value{Type: ir.TensorOf(d, dims...)}
	}
	for _, c := range []struct {
		name  string
		x     *ir.Value
		index func(e *Emitter, row, column *kernel.Value) *kernel.Value
		loads int // of x by all threads
	}{
		{"a matrix", tensor(ir.F32, rows, columns), func(e *Emitter, row, column *kernel.Value) *kernel.Value {
			return e.Add(e.Mul(row, e.Int(columns)), column)
		}, 2},
		{"a row of 16 bits", tensor(ir.BF16, columns), func(_ *Emitter, _, column *kernel.Value) *kernel.Value { return column }, 1},
		{"a column", tensor(ir.F32, rows), func(_ *Emitter, row, _ *kernel.Value) *kernel.Value { return row }, 1},
		{"rows of an odd length", tensor(ir.BF16, rows, columns+1), func(e *Emitter, row, column *kernel.Value) *kernel.Value {
			return e.Add(e.Mul(row, e.Int(columns+1)), column)
		}, 8},
		{"every second element", tensor(ir.BF16, 2*columns), func(e *Emitter, _, column *kernel.Value) *kernel.Value { return e.Mul(column, e.Int(2)) }, 8},
		{"backwards", tensor(ir.BF16, columns), func(e *Emitter, _, column *kernel.Value) *kernel.Value { return e.Sub(e.Int(columns-1), column) }, 8},
		{"pairs of columns", tensor(ir.BF16, columns/2), func(e *Emitter, _, column *kernel.Value) *kernel.Value { return e.Div(column, e.Int(2)) }, 8},
	} {
		t.Run(c.name, func(t *testing.T) {
			y := tensor(ir.F32, rows, columns)
			l, err := New("add", []dim.Dim{dim.Const(rows)}, []int{columns / 8}, func(e *Emitter) {
				row := e.BlockIdx(0)
				e.together(e.Mul(e.Thread(0), e.Int(8)), 8, func(_ int, column *kernel.Value) {
					e.Write(y).Set(e.Add(e.Mul(row, e.Int(columns)), column), e.Add(e.Read(c.x).Get(c.index(e, row, column)), e.Float(ir.F32, 1)))
				})
			})
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(l.Kernel.String(), " = load %x"); n != c.loads {
				t.Errorf("%d loads, want %d:\n%s", n, c.loads, l.Kernel)
			}
			shape, _ := c.x.Type.Static()
			x, out := ir.NewTensor(c.x.Type.DType, shape...), make([]float32, rows*columns)
			for i := range x.Len() {
				x.SetFloat(i, float64(i))
			}
			args := []kernel.Arg{kernel.Memory(out), kernel.Bytes(x.DType, x.Bytes())}
			if l.Args[0].Read != nil {
				args[0], args[1] = args[1], args[0]
			}
			if err := l.Kernel.Run([3]int{rows, 1, 1}, args, kernel.Options{}); err != nil {
				t.Fatal(err)
			}
			for i, got := range out {
				e := &Emitter{}
				want := float64(evaluated(t, e, c.index, i/columns, i%columns)) + 1
				if float64(got) != want {
					t.Errorf("element %d is %v, want %v", i, got, want)
				}
			}
		})
	}
}

// evaluated returns the index that a function builds from constants.
func evaluated(t *testing.T, e *Emitter, index func(e *Emitter, row, column *kernel.Value) *kernel.Value, row, column int) int {
	var n uint64
	_, err := kernel.Build("index", []int{1}, func(b *kernel.Builder) {
		e.Builder = b
		n, _ = index(e, b.Int(row), b.Int(column)).Const()
	})
	if err != nil {
		t.Fatal(err)
	}
	return int(n)
}
