package pass_test

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/burngen/burngen/gen/target/cpu"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/grad"
	"github.com/burngen/burngen/ir/pass"
)

// TestRecomputeRandomly makes random functions with gradients recompute as many values as they can.
// Their results must have the same bits.
func TestRecomputeRandomly(t *testing.T) {
	recomputed := 0
	rapid.Check(t, func(t *rapid.T) {
		m := drawModule(t)
		f := m.Func(pass.Forward)
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
			if err := pass.All(&pass.Context{Target: cpu.Target{}}, m, pass.Options{}); err != nil {
				t.Fatal(err)
			}
		}
		after := m.Clone()
		again := after.Func(pass.Forward)
		mode := rapid.SampledFrom([]pass.Remat{pass.RematAuto, pass.RematAll}).Draw(t, "mode")
		values, err := pass.Recompute(&pass.Context{Target: cpu.Target{}}, again, mode)
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
