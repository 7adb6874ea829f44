package call

import (
	"math"
	"testing"

	"github.com/burngen/burngen/gen/target/cpu/kernel"
	"github.com/burngen/burngen/ir/op"
)

func TestActivation(t *testing.T) {
	inf := float32(math.Inf(1))
	for _, c := range []struct {
		lo, hi float32
		want   kernel.Constant
	}{
		{0, inf, "ReLU"},
		{0, 6, "ReLU6"},
		{0, 5, ""},
		{-1, 6, ""},
		{float32(math.Copysign(0, -1)), 6, ""},
		{float32(math.Inf(-1)), inf, ""},
	} {
		if got := activation(op.Epilogue{Clamp: true, Lo: c.lo, Hi: c.hi}); got != c.want {
			t.Errorf("limits %v…%v: got %q, want %q", c.lo, c.hi, got, c.want)
		}
	}
}
