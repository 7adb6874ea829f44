package arena_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/burngen/burngen/gen/arena"
	"github.com/burngen/burngen/gen/target/targettest/text"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/ir/pass"
)

// steps returns a module of two functions, which share a chain of nodes. before and after are the
// operators before and after the chain of each function.
func steps(nodes int, before, after [2]string) string {
	var s strings.Builder
	for i, name := range []string{"step", "step2"} {
		fmt.Fprintf(&s, "func @%s(%%x: f32[64,64]) -> (y: f32[64,64]) {\n", name)
		fmt.Fprintf(&s, "  %%v0 = %s : f32[64,64]\n", before[i])
		for k := range nodes {
			fmt.Fprintf(&s, "  %%v%d = %s %%v%d : f32[64,64]\n", k+1, []string{"abs", "neg", "relu"}[k%3], k)
		}
		fmt.Fprintf(&s, "  %%y = %s : f32[64,64]\n", strings.ReplaceAll(after[i], "%v", fmt.Sprintf("%%v%d", nodes)))
		fmt.Fprintf(&s, "  return %%y\n}\n\n")
	}
	return s.String()
}

func TestOutlineParts(t *testing.T) {
	// The chain overwrites the result of a product. A function cannot overwrite its argument, so that a
	// call needs memory for a second matrix.
	products := [2]string{"mat_mul %x, %x", "transpose %x {perm=[1,0]}"}
	ofChain := [2]string{"mat_mul %v, %v", "transpose %v {perm=[1,0]}"}
	// The chain is between arguments and results.
	plain, neg := [2]string{"abs %x", "abs %x"}, [2]string{"neg %v", "neg %v"}
	trained := []string{"step", "step2"}
	for _, c := range []struct {
		name string
		text string
		ctx  pass.Context
		want bool
	}{
		{"enough nodes", steps(20, plain, neg), pass.Context{}, true},
		{"too few nodes", steps(8, plain, neg), pass.Context{}, false},
		{"the arena stays as large", steps(20, plain, neg), pass.Context{Trained: trained}, true},
		{"each node is looked at", steps(20, plain, neg), pass.Context{Trained: trained, Watched: true}, false},
		{"the arena would be larger", steps(20, products, ofChain), pass.Context{Trained: trained}, false},
		{"functions of several types", steps(20, plain, neg), pass.Context{Prepared: []string{"step"}}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := parse(t, c.text)
			changed, err := arena.OutlineParts(text.Target{}).Run(&c.ctx, m)
			if err != nil {
				t.Fatal(err)
			}
			if changed != c.want || (len(m.Funcs) > 2) != c.want || (c.ctx.Stats[pass.OutlinedBlocks] > 0) != c.want {
				t.Errorf("outlined: %v, want %v\n%s", changed, c.want, m)
			}
		})
	}
}

func parse(t *testing.T, text string) *ir.Module {
	t.Helper()
	m, err := ir.Parse(text, op.Set)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
