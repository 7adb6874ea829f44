package kernels

import (
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/kernel"
)

// TestMatVec multiplies vectors by several matrices, with extents that are not multiples of a tile, known
// and not.
func TestMatVec(t *testing.T) { limits(t, testMatVec) }

func testMatVec(t *testing.T) {
	for _, c := range []struct{ m, n, k, matrices int }{
		{1, 1, 1, 1}, {1, 33, 17, 4}, {3, 32, 8, 2}, {4, 65, 100, 3}, {5, 40, 0, 1}, {9, 7, 31, 4}, {0, 5, 3, 2}, {2, 0, 3, 1},
	} {
		for _, symbolic := range []bool{false, true} {
			a, b, y := make([]float32, c.m*c.k), make([]float32, c.k*c.n*c.matrices), make([]float32, c.m*c.n*c.matrices)
			for i := range a {
				a[i] = float32(i%13) - 6
			}
			for i := range b {
				b[i] = float32(i%7) - 3
			}
			m, n, k := dim.Const(c.m), dim.Const(c.n), dim.Const(c.k)
			if symbolic {
				m, n, k = dim.Sym("m"), dim.Sym("n"), dim.Sym("k")
			}
			x := &ir.Value{Type: ir.TensorOf(ir.F32, m, k)}
			w := &ir.Value{Type: ir.TensorOf(ir.F32, dim.Const(c.matrices), k, n)}
			z := &ir.Value{Type: ir.TensorOf(ir.F32, dim.Const(c.matrices), m, n)}
			l, err := MatVec("products", Vectors{
				M: m, N: n, K: k, Matrices: c.matrices, DType: ir.F32,
				A: func(e *Emitter, m, k *kernel.Value) *kernel.Value { return e.Read(x).At(m, k) },
				B: func(e *Emitter, matrix int, k, n *kernel.Value) *kernel.Value {
					return e.Read(w).At(e.Int(matrix), k, n)
				},
				Store: func(e *Emitter, m, n *kernel.Value, sums []*kernel.Value) {
					out := e.Write(z)
					for i, sum := range sums {
						out.Set(out.Offset([]*kernel.Value{e.Int(i), m, n}), sum)
					}
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			memory{x: kernel.Memory(a), w: kernel.Memory(b), z: kernel.Memory(y)}.run(t, map[string]int{"m": c.m, "n": c.n, "k": c.k}, l)
			for i := range y {
				matrix, row, column := i/(c.m*c.n), i/c.n%c.m, i%c.n
				want := float32(0)
				for k := range c.k {
					want += a[row*c.k+k] * b[(matrix*c.k+k)*c.n+column]
				}
				if y[i] != want {
					t.Fatalf("%+v, symbolic %v: element %d is %v, want %v", c, symbolic, i, y[i], want)
				}
			}
		}
	}
}
