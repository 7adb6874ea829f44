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
		same(t, m, after, rapid.IntRange(1, 3).Draw(t, "batch"))
	})
	if recomputed == 0 {
		t.Error("nothing was recomputed")
	}
}

// same evaluates @forward of two modules on the same arguments, and asserts that they
// give the same bytes.
func same(t *rapid.T, before, after *ir.Module, batch int) {
	if prepare := before.Func(Prepare); prepare != nil {
		out, err := (&ir.Evaluator{Module: before}).Run(prepare, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range out {
			before.Weight(prepare.ResultNames[i]).Data = w.Bytes()
			after.Weight(prepare.ResultNames[i]).Data = w.Bytes()
		}
	}
	var args []*ir.Tensor
	for i, p := range before.Func(Forward).Params {
		shape, _ := p.Type.Subst(func(string) (ir.Dim, bool) { return ir.Const(batch), true }).Static()
		args = append(args, drawTensor(shape, uint32(100+i), -2, 2))
	}
	want, err := (&ir.Evaluator{Module: before}).Run(before.Func(Forward), args)
	if err != nil {
		t.Fatalf("%v\n%s", err, before)
	}
	got, err := (&ir.Evaluator{Module: after}).Run(after.Func(Forward), args)
	if err != nil {
		t.Fatalf("%v\n%s", err, after)
	}
	for i, w := range want {
		if !bytes.Equal(got[i].Bytes(), w.Bytes()) {
			t.Fatalf("result %d is %s, before %s\nbefore\n%s\nafter\n%s", i, got[i], w, before, after)
		}
	}
}
