package storage

import "testing"

func TestBroadcasts(t *testing.T) {
	for _, c := range []struct {
		v, y string
		axes []int
		want bool
	}{
		{"f32[64]", "f32[N,64]", []int{1}, true},
		{"f32[1,64]", "f32[N,64]", []int{1}, true},
		{"f32[N,64]", "f32[N,64]", []int{1}, false},
		{"f32[1,1,64]", "f32[N,64]", []int{1}, false}, // of a higher rank
		{"f32[1]", "f32[N,64]", []int{1}, false},
		{"f32[32]", "f32[N,64]", []int{1}, false},
		{"f32[1,2,1,1,16]", "f32[N,2,H,W,16]", []int{1, 4}, true},
		{"f32[2,1,1,16]", "f32[N,2,H,W,16]", []int{1, 4}, true},
		{"f32[16]", "f32[N,2,H,W,16]", []int{1, 4}, false},
		{"f32[16]", "f32[N,1,H,W,16]", []int{1, 4}, true}, // one block
		{"f32[]", "f32[N,1]", []int{1}, true},
	} {
		if got := broadcasts(typeOf(t, c.v), typeOf(t, c.y), c.axes...); got != c.want {
			t.Errorf("%s to %s along %v: %t", c.v, c.y, c.axes, got)
		}
	}
}
