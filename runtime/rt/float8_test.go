package rt

import (
	"math"
	"testing"
)

func TestFloat8E8M0(t *testing.T) {
	inf := float32(math.Inf(1))
	for code := range 255 {
		want := math.Ldexp(1, code-127)
		if got := float64(Float8E8M0(code).Float32()); got != want {
			t.Fatalf("%#x is %v, want %v", code, got, want)
		}
		for _, x := range []float32{float32(want), -float32(want)} {
			for _, mode := range []RoundMode{RoundUp, RoundDown, RoundNearest} {
				if got := ToFloat8E8M0(x, true, mode); got != Float8E8M0(code) {
					t.Fatalf("%v becomes %#x, want %#x", x, got, code)
				}
			}
		}
		if code == 254 {
			break
		}
		below, tie, above := next(float32(want)), float32(want*1.5), prev(float32(want*2))
		for _, tt := range []struct {
			x    float32
			mode RoundMode
			up   int
		}{
			{below, RoundUp, 1}, {tie, RoundUp, 1}, {above, RoundUp, 1},
			{below, RoundDown, 0}, {tie, RoundDown, 0}, {above, RoundDown, 0},
			{below, RoundNearest, 0}, {prev(tie), RoundNearest, 0}, {tie, RoundNearest, 1}, {above, RoundNearest, 1},
		} {
			if got := ToFloat8E8M0(tt.x, true, tt.mode); got != Float8E8M0(code+tt.up) {
				t.Fatalf("%v in mode %d becomes %#x, want %#x", tt.x, tt.mode, got, code+tt.up)
			}
		}
	}
	if got := Float8E8M0(255).Float32(); got == got {
		t.Errorf("0xff is %v", got)
	}
	for _, tt := range []struct {
		x        float32
		saturate bool
		mode     RoundMode
		want     Float8E8M0
	}{
		{0, true, RoundUp, 0},
		{math.SmallestNonzeroFloat32, true, RoundUp, 0},
		{math.MaxFloat32, true, RoundUp, 254},
		{math.MaxFloat32, false, RoundUp, 255},
		{math.MaxFloat32, false, RoundDown, 254},
		{math.MaxFloat32, false, RoundNearest, 255},
		{inf, true, RoundDown, 255},
	} {
		if got := ToFloat8E8M0(tt.x, tt.saturate, tt.mode); got != tt.want {
			t.Errorf("%+v becomes %#x", tt, got)
		}
	}
}
