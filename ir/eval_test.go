package ir_test

import (
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

func TestEvaluate(t *testing.T) {
	m, err := ir.Parse(sample, op.Set)
	if err != nil {
		t.Fatal(err)
	}
	x := ir.NewTensor(ir.F32, 4, 4)
	y := ir.NewTensor(ir.F32, 4, 1)
	for i := range 16 {
		x.SetFloat(i, float64(i))
	}
	for i := range 4 {
		y.SetFloat(i, float64(10*i))
	}
	m.Weights[0].Data = make([]byte, 64)
	out, err := (&ir.Evaluator{Module: m}).Run(m.Funcs[0], []*ir.Tensor{x, y})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 16 {
		if want := float64(i) + float64(20*(i/4)) + 0.5; out[0].Float(i) != want {
			t.Errorf("element %d: %g, want %g", i, out[0].Float(i), want)
		}
	}
}

// TestEvaluateANode asserts that one node is evaluated with the symbols that are known, binds those that it
// finds, and that its results are checked.
func TestEvaluateANode(t *testing.T) {
	m, err := ir.Parse(`func @forward(%x: f32[N,2]) -> (y: i64[2,K]) {
  %y = non_zero %x {count="K"} : i64[2,K]
  return %y
}
`, op.Set)
	if err != nil {
		t.Fatal(err)
	}
	x, symbols := ir.NewTensor(ir.F32, 3, 2), map[string]int64{"N": 3}
	x.SetFloat(1, 1)
	x.SetFloat(4, -1)
	n := m.Funcs[0].Nodes[0]
	out, err := new(ir.Evaluator).Node(n, symbols, []*ir.Tensor{x})
	if err != nil {
		t.Fatal(err)
	}
	if want := ir.IntTensor(ir.I64, 0, 2, 1, 0).Reshape(2, 2); len(out) != 1 || !out[0].Equal(want) || symbols["K"] != 2 {
		t.Errorf("results %v, K = %d", out, symbols["K"])
	}
	n.Results[0].Type = ir.StaticTensor(ir.I64, 2, 5)
	if _, err := new(ir.Evaluator).Node(n, symbols, []*ir.Tensor{x}); err == nil {
		t.Error("a result of another shape than the value's is taken")
	}
}
