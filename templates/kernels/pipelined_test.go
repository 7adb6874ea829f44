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

// TestPipelined compares products of pipelined kernels with their definition. Elements are small integers, so sums are
// exact.
func TestPipelined(t *testing.T) {
	for i, c := range []struct {
		d              ir.DType
		batch, m, n, k int
		across         [2]bool
		tiles          kernels.Tiles
	}{
		{ir.BF16, 1, 64, 64, 64, [2]bool{}, kernels.Tiles{M: 64, N: 64, Stages: 2, Blocks: 4, Raster: 1}},
		{ir.BF16, 1, 130, 136, 200, [2]bool{}, kernels.Tiles{M: 128, N: 64, Stages: 2, Blocks: 2, Raster: 2}},
		{ir.F16, 1, 136, 72, 136, [2]bool{true, false}, kernels.Tiles{M: 64, N: 64, Stages: 3, Blocks: 2, Raster: 2}},
		{ir.BF16, 1, 70, 136, 72, [2]bool{false, true}, kernels.Tiles{M: 64, N: 128, Stages: 2, Blocks: 1, Raster: 8}},
		{ir.F16, 2, 136, 72, 40, [2]bool{true, true}, kernels.Tiles{M: 128, N: 64, Stages: 2, Blocks: 3, Raster: 1}},
		{ir.F32, 3, 65, 72, 36, [2]bool{}, kernels.Tiles{M: 64, N: 64, Stages: 2, Blocks: 3, Raster: 1}},
		{ir.BF16, 1, 200, 136, 136, [2]bool{false, true}, kernels.Tiles{M: 64, N: 64, Turns: true, Stages: 2, Blocks: 2, Raster: 2}},
		{ir.F16, 1, 136, 264, 72, [2]bool{true, false}, kernels.Tiles{M: 128, N: 128, Turns: true, Stages: 3, Blocks: 1, Raster: 1}},
		{ir.F16, 2, 64, 72, 456, [2]bool{}, kernels.Tiles{M: 64, N: 64, Turns: true, Stages: 3, Blocks: 1, Raster: 1}},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			shape := func(across bool, rows, columns int) []int {
				if across {
					rows, columns = columns, rows
				}
				if c.batch > 1 {
					return []int{c.batch, rows, columns}
				}
				return []int{rows, columns}
			}
			a, b := ir.NewTensor(c.d, shape(c.across[0], c.m, c.k)...), ir.NewTensor(c.d, shape(c.across[1], c.n, c.k)...)
			r := rand.New(rand.NewPCG(1, 2))
			for _, x := range []*ir.Tensor{a, b} {
				for i := range x.Len() {
					x.SetFloat(i, float64(r.IntN(9)-4))
				}
			}
			value := func(x *ir.Tensor) *ir.Value { return &ir.Value{Type: x.Type()} }
			matrices := func(x *ir.Tensor) *kernels.Matrices {
				return &kernels.Matrices{Value: value(x), Batch: c.batch, Rows: x.Shape[len(x.Shape)-2], Columns: x.Shape[len(x.Shape)-1]}
			}
			y := &ir.Value{Type: ir.TensorOf(c.d, dim.Const(c.batch), dim.Const(c.m), dim.Const(c.n))}
			bias := ir.NewTensor(c.d, c.n)
			for i := range c.n {
				bias.SetFloat(i, float64(r.IntN(9)-4))
			}
			added := value(bias)
			l, err := kernels.Pipelined("product", kernels.Factors{
				Batch: dim.Const(c.batch), M: dim.Const(c.m), N: dim.Const(c.n), K: dim.Const(c.k), DType: ir.F32, Matrix: c.d,
				ColumnsA: c.across[0], RowsB: c.across[1], Stored: [2]*kernels.Matrices{matrices(a), matrices(b)},
				Store: func(e *kernels.Emitter, batch, m, n, sum *kernel.Value) {
					sum = e.Add(sum, e.Read(added).Get(n))
					e.Write(y).Set(e.Add(e.Mul(e.Add(e.Mul(batch, e.Int(c.m)), m), e.Int(c.n)), n), sum)
				},
			}, c.tiles)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := kernel.Parse(l.Kernel.String()); err != nil || again.String() != l.Kernel.String() {
				t.Fatalf("it does not read as it prints: %v\n%s", err, l.Kernel)
			}
			out := make([]byte, c.batch*c.m*c.n*c.d.Size())
			blocks, _ := l.Grid[0].Int()
			args := []kernel.Arg{kernel.Bytes(c.d, a.Bytes()), kernel.Bytes(c.d, b.Bytes()), kernel.Bytes(c.d, bias.Bytes()), kernel.Bytes(c.d, out)}
			if err := l.Kernel.Run([3]int{blocks, 1, 1}, args, kernel.Options{}); err != nil {
				t.Fatal(err)
			}
			got, err := ir.DecodeTensor(c.d, []int{c.batch * c.m * c.n}, out)
			if err != nil {
				t.Fatal(err)
			}
			at := func(x *ir.Tensor, across bool, batch, width, i, k int) float64 {
				if across {
					return x.Float((batch*c.k+k)*width + i)
				}
				return x.Float((batch*width+i)*c.k + k)
			}
			for i := range got.Len() {
				batch, m, n := i/c.n/c.m, i/c.n%c.m, i%c.n
				want := bias.Float(n)
				for k := range c.k {
					want += at(a, c.across[0], batch, c.m, m, k) * at(b, c.across[1], batch, c.n, n, k)
				}
				if want = ir.RoundFloat(c.d, want); got.Float(i) != want {
					t.Fatalf("element (%d, %d, %d) is %v, want %v", batch, m, n, got.Float(i), want)
				}
			}
		})
	}
}
