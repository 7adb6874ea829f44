package ir_test

import (
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// parsed parses a function @f.
func parsed(t *testing.T, body string) (*ir.Module, *ir.Func) {
	t.Helper()
	m, err := ir.Parse("func @f"+body, op.Set)
	if err != nil {
		t.Fatal(err)
	}
	return m, m.Funcs[0]
}

func TestRewrite(t *testing.T) {
	m, f := parsed(t, `(%x: f32[N]) -> (y: f32[N]) {
  %0 = neg %x : f32[N]
  %1 = neg %0 : f32[N]
  %2 = relu %1 : f32[N]
  return %2
}
`)
	double := func(b *ir.Builder, n *ir.Node) []*ir.Value { // -(-x) is x
		if _, ok := n.Op.(op.Neg); !ok || n.Args[0].Def == nil {
			return nil
		}
		if _, ok := n.Args[0].Def.Op.(op.Neg); !ok {
			return nil
		}
		return n.Args[0].Def.Args[:1]
	}
	if changed, err := f.Rewrite(double); err != nil || !changed {
		t.Fatalf("changed %v, error %v", changed, err)
	}
	if err := ir.Verify(m); err != nil {
		t.Error(err)
	}
	if got := f.Results[0].Def.Args[0]; got != f.Params[0] {
		t.Errorf("the operand is %s", got)
	}
	if changed, err := f.Rewrite(double); err != nil || changed {
		t.Errorf("a second time: changed %v, error %v", changed, err)
	}
	if !f.Prune() || len(f.Nodes) != 1 {
		t.Errorf("pruned:\n%s", f)
	}
	if f.Prune() {
		t.Error("a second time something is pruned")
	}
}

// TestPruneKeepsWhatIsNeeded asserts that nodes without used results stay if they check
// something, or bind a symbol that is used.
func TestPruneKeepsWhatIsNeeded(t *testing.T) {
	_, f := parsed(t, `(%x: f32[N]) -> (y: f32[N], n: i64[1]) {
  check_dim {a=N b=4 what="batch"}
  %0 = non_zero %x {count="K"} : i64[1,K]
  %1 = non_zero %x {count="M"} : i64[1,M]
  %n = extents {elems=[K]} : i64[1]
  %unused = abs %x : f32[N]
  return %x, %n
}
`)
	if !f.Prune() || len(f.Nodes) != 3 {
		t.Errorf("%d nodes are left of 5:\n%s", len(f.Nodes), f)
	}
}

func TestCloneSharesNothing(t *testing.T) {
	m, f := parsed(t, `(%x: f32[N]) -> (y: f32[N]) {
  %0 = pointwise %x : f32[N]
    region (%p: f32[]) {
      %q = exp %p : f32[]
      return %q
    }
  return %0
}
`)
	before := m.String()
	c := m.Clone()
	if got := c.String(); got != before {
		t.Errorf("the clone is\n%s", got)
	}
	if err := ir.Verify(c); err != nil {
		t.Error(err)
	}
	for v := range values(c.Funcs[0]) {
		if values(f)[v] {
			t.Errorf("%s is shared", v)
		}
		v.Name += "_"
	}
	if m.String() != before {
		t.Errorf("changing the clone changed\n%s", m)
	}
}

// values returns the values of a function and its blocks.
func values(f *ir.Func) map[*ir.Value]bool {
	all := map[*ir.Value]bool{}
	add := func(list []*ir.Value) {
		for _, v := range list {
			all[v] = true
		}
	}
	add(f.Params)
	for n := range f.All() {
		add(n.Results)
		for _, b := range n.Blocks {
			add(b.Params)
		}
	}
	return all
}

func TestInline(t *testing.T) {
	_, part := parsed(t, `(%x: f32[N], %y: f32[N]) -> (z: f32[N]) {
  %0 = add %x, %y : f32[N]  // Add
  return %0
}
`)
	m, f := parsed(t, `(%a: f32[N]) -> (b: f32[N]) {
  %0 = neg %a : f32[N]
  return %0
}
`)
	b := ir.NewBuilder(f)
	f.Results = b.Inline(&part.Block, []*ir.Value{f.Params[0], f.Nodes[0].Results[0]}, "outer/")
	if err := ir.Verify(m); err != nil {
		t.Fatal(err)
	}
	n := f.Results[0].Def
	if len(f.Nodes) != 2 || n.Pos != "outer/Add" || n == part.Nodes[0] || n.Args[0] != f.Params[0] || n.Args[1] != f.Nodes[0].Results[0] {
		t.Errorf("inlined:\n%s", f)
	}
	if err := ir.Try(func() { b.Inline(&part.Block, f.Params, "") }); err == nil {
		t.Error("a missing argument is taken")
	}
}
