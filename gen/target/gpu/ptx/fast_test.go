package ptx

import (
	"math"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// TestFast compares Exp2, Greater and Shuffle with the interpreter of kernels, and Join of rounded f32 with Join of
// stored halves.
func TestFast(t *testing.T) {
	var values []uint64
	for i := range kernel.Warp {
		values = append(values, uint64(math.Float32bits(float32(i)*0.75-9)))
	}
	copy(values[3:], []uint64{0x7fc00000, 0xff800000, 0x7f800000})
	other := append([]uint64{0x3f800000, 0x7fc00000}, values[:30]...)
	for _, d := range []ir.DType{ir.F16, ir.BF16} {
		k := build(t, "fast", []int{kernel.Warp}, func(b *kernel.Builder) {
			x, y := b.Pointer("x", ir.F32), b.Pointer("y", ir.F32)
			power, most, moved, joined, halves := b.Pointer("power", ir.F32), b.Pointer("most", ir.F32), b.Pointer("moved", ir.F32), b.Pointer("joined", ir.U32), b.Pointer("halves", d)
			i := b.Thread(0)
			u, v := b.Load(x, i), b.Load(y, i)
			b.Store(power, i, b.Exp2(u))
			b.Store(most, i, b.Greater(u, v))
			b.Store(moved, i, b.Shuffle(u, 6))
			b.Store(joined, i, b.Join(b.Convert(d, u), b.Convert(d, v)))
			pair := b.Mul(i, b.Int(2))
			b.Store(halves, pair, b.Convert(d, u), b.Convert(d, v))
			low, high := b.Load(halves, pair), b.Load(halves, b.Add(pair, b.Int(1)))
			b.Store(joined, b.Add(i, b.Int(kernel.Warp)), b.Join(low, high))
		})
		power, most, moved := make([]uint64, kernel.Warp), make([]uint64, kernel.Warp), make([]uint64, kernel.Warp)
		joined, halves := make([]uint64, 2*kernel.Warp), make([]uint64, 2*kernel.Warp)
		text := run(t, k, single, array(ir.F32, values...), array(ir.F32, other...), array(ir.F32, power...), array(ir.F32, most...), array(ir.F32, moved...), array(ir.U32, joined...), array(d, halves...))
		if !strings.Contains(text, "cvt.rn."+d.String()+"x2.f32") {
			t.Errorf("two f32 are not rounded to %s by one instruction", d)
		}
		for i := range kernel.Warp {
			if moved[i] != values[i^6] {
				t.Errorf("thread %d gets %#x, want %#x", i, moved[i], values[i^6])
			}
			if joined[i] != joined[kernel.Warp+i] {
				t.Errorf("%s: %#x and %#x become %#x, want %#x", d, values[i], other[i], joined[i], joined[kernel.Warp+i])
			}
			x, y := math.Float32frombits(uint32(values[i])), math.Float32frombits(uint32(other[i]))
			want := max(x, y)
			if x != x {
				want = y
			} else if y != y {
				want = x
			}
			if got := math.Float32frombits(uint32(most[i])); got != want {
				t.Errorf("the greater of %v and %v is %v", x, y, got)
			}
			got, exact := math.Float32frombits(uint32(power[i])), math.Exp2(float64(x))
			if off := math.Abs(float64(got) - exact); off > exact*0x1p-22 && x == x {
				t.Errorf("exp2 of %v is %v, want %v", x, got, exact)
			}
		}
	}
}
