package rt

import (
	"testing"

	"pgregory.net/rapid"
)

func TestLayoutSharesOnlyDeadMemory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 40).Draw(t, "buffers")
		bytes, offsets := make([]int64, n), make([]int64, n)
		first, last := make([]int32, n), make([]int32, n)
		for i := range n {
			bytes[i] = rapid.Int64Range(0, 1000).Draw(t, "bytes")
			first[i] = rapid.Int32Range(0, 30).Draw(t, "first")
			last[i] = first[i] + rapid.Int32Range(0, 10).Draw(t, "life")
		}
		total := Layout(bytes, first, last, offsets)
		for i := range n {
			if offsets[i] < 0 || offsets[i]%alignment != 0 || offsets[i]+bytes[i] > total {
				t.Fatalf("buffer %d of %d bytes is at %d of %d", i, bytes[i], offsets[i], total)
			}
			for j := range i {
				if first[i] <= last[j] && first[j] <= last[i] && offsets[i] < offsets[j]+bytes[j] && offsets[j] < offsets[i]+bytes[i] {
					t.Fatalf("buffers %d and %d overlap", i, j)
				}
			}
		}
	})
}

func TestLayoutReusesGaps(t *testing.T) {
	offsets := make([]int64, 3)
	total := Layout([]int64{128, 64, 64}, []int32{0, 1, 2}, []int32{1, 2, 3}, offsets)
	if total != 192 || offsets[2] != 0 {
		t.Errorf("total %d, offsets %v", total, offsets)
	}
}
