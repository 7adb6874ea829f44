package gen_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/grad"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/ir/pass"
)

// TestGradientsOfFusedAttention compares the gradients of an attention as an operator with the gradients of the formula,
// in f64.
func TestGradientsOfFusedAttention(t *testing.T) {
	m := drawn(t, strings.ReplaceAll(causalTransformer, "f32", "f64"))
	loss := m.Funcs[0]
	b := ir.NewBuilder(loss)
	squares := b.Node(op.Mul{}, loss.Results[0], loss.Results[0])
	loss.Results = []*ir.Value{b.Node(op.Reduce{Kind: op.ReduceSum, Axes: []int{0, 1}}, squares)}
	var params []string
	for _, w := range m.Weights {
		params = append(params, w.Name)
	}
	x := ir.NewTensor(ir.F64, 2, 4, 16)
	for i := range x.Len() {
		x.SetFloat(i, math.Sin(float64(i)))
	}
	var results [2][]*ir.Tensor
	for i := range results {
		f := loss.Clone()
		if i == 1 {
			if err := pass.FuseAttention(f, func(*ir.Node) bool { return true }); err != nil {
				t.Fatal(err)
			}
		}
		step, err := grad.Step(m, f, "step", params)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(step.String(), "attention_gradient") != (i == 1) {
			t.Fatalf("the gradient is an operator, or the formula was not replaced:\n%s", step)
		}
		if results[i], err = (&ir.Evaluator{Module: m}).Run(step, []*ir.Tensor{x}); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range results[0] {
		got := results[1][i]
		if !slices.Equal(got.Shape, want.Shape) {
			t.Fatalf("result %d is %s, want %s", i, got.Type(), want.Type())
		}
		for k := range want.Len() {
			if d := math.Abs(got.Float(k) - want.Float(k)); !(d <= 1e-9*(1+math.Abs(want.Float(k)))) {
				t.Errorf("result %d, element %d: %g, want %g", i, k, got.Float(k), want.Float(k))
			}
		}
	}
}

// TestFuseAttentionAsks asserts that a formula stays if its attention is not accepted, and that the node which is asked
// about has the types of the attention.
func TestFuseAttentionAsks(t *testing.T) {
	f := drawn(t, causalTransformer).Funcs[0]
	want := f.String()
	asked := 0
	err := pass.FuseAttention(f, func(n *ir.Node) bool {
		asked++
		o := n.Op.(op.Attention)
		if o.After != 0 || len(n.Args) != 3 || n.Args[0].Type.String() != "f32[N,1,4,16]" || n.Results[0].Type.String() != "f32[N,1,4,16]" {
			t.Errorf("asked about %s of %v", n.Text(), n.ArgTypes())
		}
		return false
	})
	if err != nil || asked != 1 || f.String() != want {
		t.Errorf("asked %d times, error %v:\n%s", asked, err, f)
	}
}
