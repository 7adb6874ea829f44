package pass

import (
	"fmt"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/plan"
)

// steps returns a module of two functions that compute the same of the same.
func steps(nodes int) string {
	var s strings.Builder
	for _, name := range []string{"step", "step2"} {
		fmt.Fprintf(&s, "func @%s(%%v0: f32[N,64]) -> (y: f32[N,64]) {\n", name)
		for i := range nodes {
			fmt.Fprintf(&s, "  %%v%d = %s %%v%d : f32[N,64]\n", i+1, []string{"abs", "neg", "relu"}[i%3], i)
		}
		fmt.Fprintf(&s, "  return %%v%d\n}\n\n", nodes)
	}
	return s.String()
}

func TestOutlineParts(t *testing.T) {
	// A call takes twice the memory in these plans that the values of its nodes take.
	planned := func(m *ir.Module, name string) (*plan.Plan, error) {
		refs := map[*ir.Node][]*plan.Ref{}
		for _, n := range m.Func(name).Nodes {
			if _, ok := n.Op.(ir.Invoke); ok {
				v := &ir.Value{Name: "arena", Type: ir.TensorOf(ir.F64, m.Func("step").Params[0].Type.Elems())}
				refs[n] = []*plan.Ref{{Value: v, Access: plan.Scratch, DType: ir.F64, Len: v.Type.Elems()}}
			}
		}
		return plan.Make(m.Func(name), func(string) bool { return false }, refs)
	}
	for _, c := range []struct {
		name  string
		nodes int
		ctx   Context
		want  bool
	}{
		{"enough nodes", 20, Context{}, true},
		{"too few nodes", 10, Context{}, false},
		{"each node is looked at", 20, Context{Trained: []string{"step", "step2"}, Watched: true}, false},
		{"the arena would be larger", 20, Context{Trained: []string{"step", "step2"}, Plan: planned}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := parse(t, steps(c.nodes))
			changed, err := outlineParts(&c.ctx, m)
			if err != nil {
				t.Fatal(err)
			}
			if changed != c.want || (len(m.Funcs) > 2) != c.want {
				t.Errorf("outlined: %v, want %v\n%s", changed, c.want, m)
			}
		})
	}
}
