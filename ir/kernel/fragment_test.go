package kernel_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// matMul is a kernel of a warp that computes a·b + c of matrices in memory: a and c in rows, b in rows.
func matMul(d ir.DType) (*kernel.Kernel, error) {
	return kernel.Build("mat_mul", []int{kernel.Warp}, func(b *kernel.Builder) {
		a, m, c, y := b.Pointer("a", d), b.Pointer("b", d), b.Pointer("c", ir.F32), b.Pointer("y", ir.F32)
		_, _, terms, _ := kernel.FactorsOfMatrix(d)
		g, i := b.Div(b.Thread(0), b.Int(4)), b.Rem(b.Thread(0), b.Int(4))
		at := func(row, column *kernel.Value, columns int) *kernel.Value {
			return b.Add(b.Mul(row, b.Int(columns)), column)
		}
		var x, w, z, places []*kernel.Value
		step := terms / 8 // adjacent elements
		for half := range 2 {
			for below := range 2 {
				for j := range step {
					x = append(x, b.Load(a, at(b.Add(g, b.Int(8*below)), b.Add(b.Mul(i, b.Int(step)), b.Int(4*step*half+j)), terms)))
				}
			}
			for j := range step {
				w = append(w, b.Load(m, at(b.Add(b.Mul(i, b.Int(step)), b.Int(4*step*half+j)), g, 8)))
			}
		}
		for j := range 4 {
			places = append(places, at(b.Add(g, b.Int(j/2*8)), b.Add(b.Mul(i, b.Int(2)), b.Int(j%2)), 8))
			z = append(z, b.Load(c, places[j]))
		}
		for j, sum := range b.MatMulAdd(x, w, z) {
			b.Store(y, places[j], sum)
		}
	})
}

// TestMatMulAdd compares products of matrices with their definition. Elements are small integers, so sums are
// exact.
func TestMatMulAdd(t *testing.T) {
	for _, d := range []ir.DType{ir.F16, ir.BF16, ir.F32} {
		k, err := matMul(d)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := kernel.Parse(k.String()); err != nil || again.String() != k.String() {
			t.Errorf("%s: it does not read as it prints: %v\n%s", d, err, k)
		}
		_, _, terms, _ := kernel.FactorsOfMatrix(d)
		r := rand.New(rand.NewPCG(1, 2))
		draw := func(d ir.DType, n int) *ir.Tensor {
			x := ir.NewTensor(d, n)
			for i := range n {
				x.SetFloat(i, float64(r.IntN(17)-8))
			}
			return x
		}
		a, b, c := draw(d, 16*terms), draw(d, terms*8), draw(ir.F32, 16*8)
		out := make([]byte, 4*16*8)
		args := []kernel.Arg{kernel.Bytes(d, a.Bytes()), kernel.Bytes(d, b.Bytes()), kernel.Bytes(ir.F32, c.Bytes()), kernel.Bytes(ir.F32, out)}
		if err := k.Run([3]int{1, 1, 1}, args, kernel.Options{}); err != nil {
			t.Fatal(err)
		}
		got, err := ir.DecodeTensor(ir.F32, []int{16 * 8}, out)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 16 * 8 {
			want := c.Float(i)
			for l := range terms {
				want += a.Float(i/8*terms+l) * b.Float(l*8+i%8)
			}
			if got.Float(i) != want {
				t.Fatalf("%s: element (%d, %d) is %v, want %v", d, i/8, i%8, got.Float(i), want)
			}
		}
	}
}

// TestMatMulAddMistakes asserts which products of matrices a kernel may not have.
func TestMatMulAddMistakes(t *testing.T) {
	for _, c := range []struct {
		threads int
		d       ir.DType
		a       int
		under   bool
		want    string
	}{
		{32, ir.F64, 4, false, "does not compute on f64"},
		{32, ir.F16, 7, false, "operands"},
		{48, ir.BF16, 8, false, "no whole warps"},
		{32, ir.F32, 4, true, "may differ between threads"},
	} {
		_, err := kernel.Build("k", []int{c.threads}, func(b *kernel.Builder) {
			p := b.Pointer("p", c.d)
			list := func(n int, x *kernel.Value) (out []*kernel.Value) {
				for range n {
					out = append(out, x)
				}
				return out
			}
			x := b.Load(p, b.Int(0))
			multiply := func() { b.MatMulAdd(list(c.a, x), list(c.a/2, x), list(4, b.Float(ir.F32, math.Pi))) }
			if c.under {
				b.Do(b.Eq(b.Thread(0), b.Int(0)), multiply)
			} else {
				multiply()
			}
		})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c, err, c.want)
		}
	}
}
