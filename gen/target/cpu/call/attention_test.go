package call_test

import (
	"strings"
	"testing"

	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// TestMasksOfAttention asserts the strides of masks, which are 0 along broadcast axes, and that
// bools allow keys where numbers are added to scores.
func TestMasksOfAttention(t *testing.T) {
	attend := op.Attend{
		Batch: dim.Sym("N"), Heads: dim.Const(4), Shared: dim.Const(2), Queries: dim.Const(3), Keys: dim.Const(5),
		Depth: dim.Const(8), Width: dim.Const(6),
		Q: dim.Consts(0, 96, 24, 8), K: dim.Consts(0, 80, 40, 8), V: dim.Consts(0, 60, 30, 6), Scale: 0.5,
	}
	for _, c := range []struct {
		masks []any
		want  string
	}{
		{nil, "Softcap:f32:0} {})"},
		{[]any{"f32[N,4,3,5]"}, "Mask:[60 15 5 1]} {Add:d})"},
		{[]any{"f32[N,1,1,5]"}, "Mask:[5 0 0 1]} {Add:d})"},
		{[]any{"bool[3,5]"}, "Mask:[0 0 5 1]} {Allow:d})"},
		{[]any{nil, "i64[N]"}, "Softcap:f32:0} {Lengths:e})"},
	} {
		operands := append([]any{"f32[N,4,3,8]", "f32[N,2,5,8]", "f32[N,2,5,6]"}, c.masks...)
		if got := calls(t, attend, operands...); !strings.HasSuffix(got, c.want) {
			t.Errorf("masks %v: %s\nends not in %s", c.masks, got, c.want)
		}
	}
}
