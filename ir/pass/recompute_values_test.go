package pass

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/grad"
)

// TestRecomputeRandomly makes random functions, with gradients, compute whatever they can
// again, and asserts that they give the same to the bit.
func TestRecomputeRandomly(t *testing.T) {
	recomputed := 0
	rapid.Check(t, func(t *rapid.T) {
		m := drawModule(t)
		f := m.Func(Forward)
		b := ir.NewBuilder(f)
		var wrt []*ir.Value
		for _, n := range f.Nodes {
			if _, ok := n.Op.(ir.Load); ok {
				wrt = append(wrt, n.Results[0])
			}
		}
		grads, err := grad.Append(b, f.Results[0], nil, append(wrt, f.Params...))
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range grads {
			f.Results, f.ResultNames = append(f.Results, b.Now(g)), append(f.ResultNames, b.Name("gradient"))
		}
		f.Prune()
		if rapid.Bool().Draw(t, "lowered") {
			if err := All(&Context{}, m, Options{}); err != nil {
				t.Fatal(err)
			}
		}
		after := m.Clone()
		again := after.Func(Forward)
		mode := rapid.SampledFrom([]Remat{RematAuto, RematAll}).Draw(t, "mode")
		values, err := recompute(&Context{}, again, mode)
		if err != nil {
			t.Fatalf("%v\n%s", err, m)
		}
		recomputed += values
		if err := ir.Verify(after); err != nil {
			t.Fatalf("%v\n%s", err, after)
		}
		prepare(t, m, m, after)
		compare(t, m, after, rapid.IntRange(1, 3).Draw(t, "batch"), func(got, want *ir.Tensor) bool {
			return bytes.Equal(got.Bytes(), want.Bytes())
		})
	})
	if recomputed == 0 {
		t.Error("nothing was recomputed")
	}
}
