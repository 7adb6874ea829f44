package kernel_test

import (
	"math"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/kernel"
)

// TestFast compares Exp2, Greater and Join with their definitions.
func TestFast(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	x := []float32{0, 1, -1, 0.5, -149, 127.5, 200, -inf, inf, nan, 3, nan}
	y := []float32{1, 0, -2, nan, 7, -7, inf, 2, -inf, 3, nan, nan}
	k := parse(t, build(t, "fast", []int{len(x)}, func(b *kernel.Builder) {
		px, py, power, most, joined := b.Pointer("x", ir.F32), b.Pointer("y", ir.F32), b.Pointer("power", ir.F32), b.Pointer("most", ir.F32), b.Pointer("joined", ir.U32)
		u, v := b.Load(px, b.Thread(0)), b.Load(py, b.Thread(0))
		b.Store(power, b.Thread(0), b.Exp2(u))
		b.Store(most, b.Thread(0), b.Greater(u, v))
		b.Store(joined, b.Thread(0), b.Join(b.Convert(ir.BF16, u), b.Convert(ir.BF16, v)))
	}).String())
	power, most, joined := make([]float32, len(x)), make([]float32, len(x)), make([]uint32, len(x))
	args := []kernel.Arg{kernel.Memory(x), kernel.Memory(y), kernel.Memory(power), kernel.Memory(most), kernel.Memory(joined)}
	if err := k.Run([3]int{1, 1, 1}, args, kernel.Options{}); err != nil {
		t.Fatal(err)
	}
	same := func(a, b float32) bool { return a == b || a != a && b != b }
	for i := range x {
		if want := float32(math.Exp2(float64(x[i]))); !same(power[i], want) {
			t.Errorf("exp2 of %v is %v, want %v", x[i], power[i], want)
		}
		want := max(x[i], y[i])
		switch {
		case x[i] != x[i]:
			want = y[i]
		case y[i] != y[i]:
			want = x[i]
		}
		if !same(most[i], want) {
			t.Errorf("the greater of %v and %v is %v, want %v", x[i], y[i], most[i], want)
		}
		if x[i] != x[i] || y[i] != y[i] {
			continue
		}
		bits := func(x float32) uint32 { return math.Float32bits(float32(ir.RoundFloat(ir.BF16, float64(x)))) >> 16 }
		if want := bits(x[i]) | bits(y[i])<<16; joined[i] != want {
			t.Errorf("%v and %v are joined to %#x, want %#x", x[i], y[i], joined[i], want)
		}
	}
}
