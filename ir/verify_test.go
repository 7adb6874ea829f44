package ir_test

import (
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

const verified = `weight w : f32[4]

func @part(%x: f32[N,4]) -> (y: f32[N,4]) {
  %0 = relu %x : f32[N,4]
  return %0
}

func @forward(%x: f32[N,4]) -> (y: f32[N,4], rows: i64[2,K]) {
  %w = load {name="w"} : f32[4]
  %0 = add %x, %w : f32[N,4]
  %1 = invoke %0 {func="part"} : f32[N,4]
  %2 = non_zero %1 {count="K"} : i64[2,K]
  return %1, %2
}
`

// TestVerify breaks each invariant of a module, and asserts that Verify names it.
func TestVerify(t *testing.T) {
	node := func(m *ir.Module, i int) *ir.Node { return m.Func("forward").Nodes[i] }
	for _, c := range []struct {
		name   string
		damage func(m *ir.Module)
		want   string // "" for none
	}{
		{"nothing", func(*ir.Module) {}, ""},
		{"a weight twice", func(m *ir.Module) { m.Weights = append(m.Weights, m.Weights[0]) }, `weight "w" is declared twice`},
		{"a weight of a symbol", func(m *ir.Module) { m.Weights[0].Type = ir.TensorOf(ir.F32, dim.Sym("N")) }, "is not a static tensor type"},
		{"a function twice", func(m *ir.Module) { m.Funcs = append(m.Funcs, m.Funcs[0].Clone()) }, "function @part is declared twice"},
		{"a name twice", func(m *ir.Module) { node(m, 2).Results[0].Name = "0" }, "%0 is defined twice"},
		{"a use before the definition", func(m *ir.Module) {
			f := m.Func("forward")
			f.Nodes[1], f.Nodes[2] = f.Nodes[2], f.Nodes[1]
		}, "%0 is not defined before it is used"},
		{"another type", func(m *ir.Module) { node(m, 1).Results[0].Type = ir.StaticTensor(ir.F32, 3, 4) }, "infers [f32[N,4]]"},
		{"a value of another node", func(m *ir.Module) { node(m, 1).Results[0].Def = node(m, 0) }, "%0 does not name the node that makes it"},
		{"a value of no type", func(m *ir.Module) { m.Func("part").Params[0].Type = ir.Type{} }, "has no valid type"},
		{"a result that is missing", func(m *ir.Module) { m.Func("forward").Results[0] = nil }, "is not defined"},
		{"no name of a result", func(m *ir.Module) { f := m.Func("forward"); f.ResultNames = f.ResultNames[:1] }, "1 result names for 2 results"},
		{"a symbol that nothing binds", func(m *ir.Module) { node(m, 3).Results[0].Type.Shape[1] = dim.Sym("M") }, "symbol M is not bound"},
		{"a symbol that is bound twice", func(m *ir.Module) {
			f := m.Func("forward")
			again := *f.Nodes[3]
			f.Nodes = append(f.Nodes, &again)
		}, "binds K again"},
		{"no such weight", func(m *ir.Module) { m.Weights[0].Name = "v" }, `the module has no weight "w" of this type`},
		{"no such function", func(m *ir.Module) { m.Funcs = m.Funcs[1:] }, "no function @part"},
		{"too many operands of a call", func(m *ir.Module) { n := node(m, 2); n.Args = append(n.Args, n.Args[0]) }, "@part takes 1 values and returns 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := ir.Parse(verified, op.Set)
			if err != nil {
				t.Fatal(err)
			}
			c.damage(m)
			switch err := ir.Verify(m); {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}
