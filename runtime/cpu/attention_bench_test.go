package cpu

import (
	"fmt"
	"testing"
)

func BenchmarkAttention(b *testing.B) {
	for _, c := range []struct{ heads, shared, queries, keys, depth int }{
		{12, 12, 128, 128, 64}, {12, 12, 128, 128, 32}, {12, 12, 16, 16, 32}, {12, 12, 512, 512, 64},
		{12, 12, 1, 128, 64}, {32, 8, 1, 1024, 128}, {12, 12, 1, 1, 64},
	} {
		s := &AttentionShape{
			Batch: 1, Heads: c.heads, Shared: c.shared, Queries: c.queries, Keys: c.keys, Depth: c.depth, Width: c.depth,
			Q: [4]int{0, 0, c.depth, c.heads * c.depth}, K: [4]int{0, 0, c.depth, c.shared * c.depth},
			V: [4]int{0, 0, c.depth, c.shared * c.depth}, Y: [4]int{0, 0, c.depth, c.heads * c.depth},
			Scale: 0.125, Before: -1, After: -1,
		}
		q, k, v := random(c.queries*c.heads*c.depth, 1), random(c.keys*c.shared*c.depth, 2), random(c.keys*c.shared*c.depth, 3)
		dst, scratch := make([]float32, len(q)), make([]float32, AttentionScratch(c.keys, c.depth, c.depth))
		b.Run(fmt.Sprintf("%d heads, %d to %d of %d", c.heads, c.queries, c.keys, c.depth), func(b *testing.B) {
			eachLevel(b, 4*float64(c.heads)*float64(c.queries)*float64(c.keys)*float64(c.depth), func() { Attention(dst, q, k, v, scratch, s, nil) })
		})
	}
}
