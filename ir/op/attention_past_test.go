package op

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/burngen/burngen/ir"
)

// Attention of com.microsoft that goes on from a past gives what it gives for all rows at once.
func TestAttentionOfMicrosoftGoesOn(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		batch, heads, depth := rapid.IntRange(1, 2).Draw(r, "batch"), rapid.IntRange(1, 3).Draw(r, "heads"), rapid.IntRange(1, 4).Draw(r, "depth")
		past, more := rapid.IntRange(1, 3).Draw(r, "past"), rapid.IntRange(1, 3).Draw(r, "more")
		a := attrs{"num_heads": heads, "unidirectional": 1}
		x, w := drawUnit(r, batch, past+more, 3), drawUnit(r, 3, 3*heads*depth)
		all := evalNode(r, "com.microsoft:Attention", 2, a, x, w)
		rest := evalNode(r, "com.microsoft:Attention", 2, a, rows(r, x, 1, past, more), w, nil, nil, rows(r, all[1], 3, 0, past))
		if want := rows(r, all[0], 1, past, more); !closeTo(rest[0], want, 1e-4) {
			r.Fatalf("%s, want %s", rest[0], want)
		}
		if !closeTo(rest[1], all[1], 1e-5) {
			r.Fatalf("keys and values are %s, want %s", rest[1], all[1])
		}
	})
}

// TestMultiHeadAttentionOfACache compares a cache that has spare room with a past that has not. The
// results must be equal, and the contents of the spare room must not matter.
func TestMultiHeadAttentionOfACache(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		const heads, depth = 2, 3
		used, keys, spare := rapid.IntRange(1, 3).Draw(r, "used"), rapid.IntRange(1, 2).Draw(r, "keys"), rapid.IntRange(0, 2).Draw(r, "spare")
		a := attrs{"num_heads": heads, "unidirectional": 1}
		q, k, v := drawUnit(r, 1, keys, heads*depth), drawUnit(r, 1, keys, heads*depth), drawUnit(r, 1, keys, heads*depth)
		cacheK, cacheV := drawUnit(r, 1, heads, used+keys+spare, depth), drawUnit(r, 1, heads, used+keys+spare, depth)
		scores := drawUnit(r, 1, heads, keys, used+keys) // has no room to spare
		pastK, pastV := rows(r, cacheK, 2, 0, used), rows(r, cacheV, 2, 0, used)
		count := ir.IntTensor(ir.I32, int64(used))
		want := evalNode(r, "com.microsoft:MultiHeadAttention", 3, a, q, k, v, nil, nil, scores, pastK, pastV)
		got := evalNode(r, "com.microsoft:MultiHeadAttention", 3, a, q, k, v, nil, nil, scores, cacheK, cacheV, count)
		if !closeTo(got[0], want[0], 1e-4) {
			r.Fatalf("%s, want %s", got[0], want[0])
		}
		for i := 1; i < 3; i++ {
			if part := rows(r, got[i], 2, 0, used+keys); !closeTo(part, want[i], 1e-5) {
				r.Fatalf("result %d is %s, want %s", i, part, want[i])
			}
		}
		decoded := evalNode(r, "com.microsoft:DecoderMaskedMultiHeadAttention", 1, attrs{"num_heads": heads}, q, k, v, nil, scores, cacheK, cacheV, count)
		both := evalNode(r, "com.microsoft:MultiHeadAttention", 1, attrs{"num_heads": heads}, q, k, v, nil, nil, scores, pastK, pastV)
		if !closeTo(decoded[0], both[0], 1e-4) {
			r.Fatalf("decoding gives %s, want %s", decoded[0], both[0])
		}
	})
}
