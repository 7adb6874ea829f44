package kernels_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
	"github.com/burngen/burngen/templates/kernels"
)

// TestRowProducts compares products of rows with their definition: with few rows, with threads that add single products
// and with warps that multiply matrices, with sums in one part and in several, and with rows of the first factor that
// have missing chunks. Elements are small integers, so sums are exact.
func TestRowProducts(t *testing.T) {
	for _, c := range []struct {
		d, matrix      ir.DType
		batch, m, n, k int
		dynamic        bool // the kernels get m as an argument
		launches       int
	}{
		{ir.F32, ir.Invalid, 1, 70, 66, 36, false, 1},
		{ir.F32, ir.Invalid, 2, 9, 5, 132, false, 2},
		{ir.F32, ir.F32, 1, 65, 8, 72, false, 1},
		{ir.F16, ir.Invalid, 1, 9, 4, 68, false, 1},
		{ir.BF16, ir.BF16, 1, 70, 68, 72, false, 1},
		{ir.BF16, ir.BF16, 3, 10, 12, 328, false, 2},
		{ir.F16, ir.F16, 1, 66, 3, 264, true, 4},
		{ir.F32, ir.Invalid, 1, 1, 37, 784, false, 1},
		{ir.F32, ir.F32, 2, 3, 5, 132, false, 1},
		{ir.F16, ir.Invalid, 1, 2, 9, 2308, false, 1},
		{ir.BF16, ir.BF16, 3, 5, 12, 328, false, 1},
		{ir.BF16, ir.BF16, 1, 8, 8500, 40, false, 1},
		{ir.F32, ir.Invalid, 1, 2, 4300, 36, false, 1},
		{ir.BF16, ir.BF16, 1, 1, 3, 8200, false, 1},
		{ir.F16, ir.F16, 1, 1, 66, 264, true, 4},
		{ir.F32, ir.Invalid, 1, 7, 3, 264, true, 4},
		{ir.BF16, ir.BF16, 1, 130, 136, 40, false, 1},
		{ir.F32, ir.Invalid, 1, 130, 66, 20, false, 1},
		{ir.F16, ir.F16, 1, 140, 8, 40, false, 1},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			defer kernels.SetLeastLarge(2 * c.batch * c.batch)()
			m := dim.Const(c.m)
			if c.dynamic {
				m = dim.Sym("M")
			}
			r := rand.New(rand.NewPCG(1, 2))
			tensor := func(shape ...int) *ir.Tensor {
				x := ir.NewTensor(c.d, shape...)
				for i := range x.Len() {
					x.SetFloat(i, float64(r.IntN(9)-4))
				}
				return x
			}
			a, b := tensor(c.batch, c.m, c.k), tensor(c.batch, c.n, c.k)
			x, w := &ir.Value{Type: a.Type()}, &ir.Value{Type: b.Type()}
			y := &ir.Value{Type: ir.TensorOf(c.d, dim.Const(c.batch), m, dim.Const(c.n))}
			f := kernels.RowFactors{Batch: c.batch, M: m, N: c.n, K: c.k, A: x, B: w, Matrix: c.matrix}
			f.Row = func(e *kernels.Emitter, batch, m *kernel.Value) []*kernel.Value {
				return []*kernel.Value{e.Add(e.Mul(batch, e.Int(c.m)), m), m}
			}
			missing := func(m, k int) bool { return (m+k/f.Chunk())%3 == 0 }
			f.At = func(e *kernels.Emitter, _ *kernel.Value, row []*kernel.Value, k *kernel.Value) (i, inside *kernel.Value) {
				number := e.Add(row[1], e.Div(k, e.Int(f.Chunk())))
				return e.Add(e.Mul(row[0], e.Int(c.k)), k), e.Ne(e.Rem(number, e.Int(3)), e.Int(0))
			}
			f.Store = func(e *kernels.Emitter, batch, m, n, sum *kernel.Value) {
				e.Write(y).Set(e.Add(e.Mul(e.Add(e.Mul(batch, e.Int(c.m)), m), e.Int(c.n)), n), sum)
			}
			launches, err := kernels.RowProducts("product", f)
			if err != nil {
				t.Fatal(err)
			}
			if len(launches) != c.launches {
				t.Errorf("%d launches, want %d", len(launches), c.launches)
			}
			out := make([]byte, c.batch*c.m*c.n*c.d.Size())
			scratch := map[*kernels.Scratch][]byte{}
			extent := func(d dim.Dim) int {
				n, err := d.Eval(func(string) (int64, bool) { return int64(c.m), true })
				if err != nil {
					t.Fatal(err)
				}
				return int(n)
			}
			for _, l := range launches {
				var grid [3]int
				blocks := 1
				for i, d := range l.Grid {
					grid[i] = extent(d)
					blocks *= grid[i]
				}
				if blocks == 0 {
					continue
				}
				var args []kernel.Arg
				for _, arg := range l.Args {
					switch {
					case arg.Read == x:
						args = append(args, kernel.Bytes(c.d, a.Bytes()))
					case arg.Read == w:
						args = append(args, kernel.Bytes(c.d, b.Bytes()))
					case arg.Write == y:
						args = append(args, kernel.Bytes(c.d, out))
					case arg.Scratch != nil:
						if scratch[arg.Scratch] == nil {
							scratch[arg.Scratch] = make([]byte, extent(dim.Product(arg.Scratch.Shape...))*4)
						}
						args = append(args, kernel.Bytes(ir.F32, scratch[arg.Scratch]))
					default:
						args = append(args, kernel.Number(int32(extent(arg.Dim))))
					}
				}
				if err := l.Kernel.Run(grid, args, kernel.Options{}); err != nil {
					t.Fatal(err)
				}
			}
			got, err := ir.DecodeTensor(c.d, []int{c.batch * c.m * c.n}, out)
			if err != nil {
				t.Fatal(err)
			}
			for i := range got.Len() {
				batch, m, n := i/c.n/c.m, i/c.n%c.m, i%c.n
				want := 0.0
				for k := range c.k {
					if !missing(m, k) {
						want += a.Float((batch*c.m+m)*c.k+k) * b.Float((batch*c.n+n)*c.k+k)
					}
				}
				if want = ir.RoundFloat(c.d, want); got.Float(i) != want {
					t.Fatalf("element (%d, %d, %d) is %v, want %v", batch, m, n, got.Float(i), want)
				}
			}
		})
	}
}
