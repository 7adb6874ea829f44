package rt

import (
	"slices"
	"testing"
)

func TestBuffersSizes(t *testing.T) {
	for _, c := range []struct {
		name string
		b    Buffers
		want []int64
	}{
		{"of one extent", Buffers{Fixed: []int64{1, 2}, Each: [][]int64{{10, 0}}}, []int64{31, 2}},
		{"of two", Buffers{Each: [][]int64{{10, 1}, {0, 100}}}, []int64{30, 503}},
		{"of the second", Buffers{Fixed: []int64{0, 7}, Each: [][]int64{nil, {0, 1}}}, []int64{0, 12}},
		{"computed", Buffers{Bytes: func(z *Sizes, in, dst []int64) { dst[0], dst[1] = z.Mul(in[0], in[1]), 1 }}, []int64{15, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var z Sizes
			got := []int64{-1, -1}
			if c.b.sizes(&z, []int64{3, 5}, got); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
			wantError(t, z.Err(""), "")
		})
	}
}
