package gpu_test

import (
	"math"
	"testing"

	"github.com/burngen/burngen/gen/target/gpu"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/ir/pass"
)

// TestRounding asserts that the tolerance of a precision grows with the root of the number of products in a
// chain, through calls and around them, and that a softmax counts those before it more than once.
func TestRounding(t *testing.T) {
	softmax := 2 * math.Log(8)
	for _, c := range []struct {
		text     string
		products float64
	}{
		{network, 3*softmax + 1}, // %wv, %p, %q, and %y after the softmax
		{attending, 2*math.Log(4) + 1},
		{matMul, 1},
		{encoder(1, true), 2*2*math.Log(9) + 4},
		{encoder(2, false), 2*(2*2*math.Log(9)) + 4*2*math.Log(9) + 4}, // and from the first attention to the second
		{`
func @forward(%x: f32[8,8]) -> (y: f32[8,8]) {
  %p = mat_mul %x, %x : f32[8,8]
  %s = invoke %p {func="shares"} : f32[8,8]
  %y = invoke %s {func="shares"} : f32[8,8]
  return %y
}

func @shares(%x: f32[8,8]) -> (y: f32[8,8]) {
  %p = mat_mul %x, %x : f32[8,8]
  %s = softmax %p {axis=1} : f32[8,8]
  %y = mat_mul %s, %x : f32[8,8]
  return %y
}
`, 2*softmax + 2*softmax + 1}, // two products before each softmax, and one after the second
		{`
func @forward(%x: f32[N,N]) -> (y: f32[N,N]) {
  %p = mat_mul %x, %x : f32[N,N]
  %y = softmax %p {axis=0} : f32[N,N]
  return %y
}
`, 2 * math.Log(1024)},
	} {
		m, err := ir.Parse(c.text, op.Set)
		if err != nil {
			t.Fatal(err)
		}
		for p, unit := range map[gpu.Precision]float64{gpu.F32: 0, gpu.TF32: 0x1p-11, gpu.F16: 0x1p-11, gpu.BF16: 0x1p-8} {
			if got, want := p.Rounding(m, m.Func(pass.Forward)), 4*unit*math.Sqrt(c.products); math.Abs(got-want) > 1e-9 {
				t.Errorf("%s: %g, want %g for\n%s", p, got, want, c.text)
			}
		}
	}
}
