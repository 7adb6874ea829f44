package cost

import (
	"testing"
)

func TestPlanes(t *testing.T) {
	same := func(c, size, kernel, stride int) Depthwise {
		out := (size-1)/stride + 1
		return Depthwise{N: 1, C: c, InH: size, InW: size, OutH: out, OutW: out, KH: kernel, KW: kernel, StrideW: stride}
	}
	for _, c := range []struct {
		name string
		conv Depthwise
		want bool
	}{
		{"wide planes that leave the cache", same(128, 56, 3, 1), true},
		{"planes of less than a vector's width", same(1024, 7, 3, 1), false},
		{"small planes that stay in the cache", same(512, 14, 3, 1), false},
		{"many taps outweigh what moving takes", same(128, 28, 7, 1), false},
		{"few channels fill no block", same(2, 56, 3, 1), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := Default().Planes(c.conv); got != c.want {
				t.Errorf("%+v: %v, want %v", c.conv, got, c.want)
			}
		})
	}
}
