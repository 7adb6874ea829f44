package pass

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
)

// stack returns a module of layers with 12 nodes each. Layer number odd, if there is one, has
// another operator in the middle.
func stack(layers, odd int) string {
	var s strings.Builder
	for i := range layers {
		fmt.Fprintf(&s, "weight w%d : f32[4]\n", i)
	}
	s.WriteString("\nfunc @forward(%v0: f32[N,4]) -> (y: f32[N,4]) {\n")
	next := 0
	for i := range layers {
		fmt.Fprintf(&s, "  %%w%d = load {name=\"w%d\"} : f32[4]\n", i, i)
		for k := range 12 {
			name := []string{"abs", "neg", "relu"}[k%3]
			if k == 6 && i == odd {
				name = "exp"
			}
			operands := fmt.Sprintf("%%v%d", next)
			if k == 11 {
				name, operands = "mul", fmt.Sprintf("%%v%d, %%w%d", next, i)
			}
			next++
			fmt.Fprintf(&s, "  %%v%d = %s %s : f32[N,4]\n", next, name, operands)
		}
	}
	fmt.Fprintf(&s, "  return %%v%d\n}\n", next)
	return s.String()
}

func TestOutlineBlocks(t *testing.T) {
	for _, c := range []struct {
		name        string
		layers, odd int
		calls       int
	}{
		{"too few layers to save enough", 3, -1, 0},
		{"enough layers", 4, -1, 4},
		{"a layer that differs stays", 7, 3, 0},
		{"the longer part beside a layer that differs", 24, 3, 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := parse(t, stack(c.layers, c.odd))
			if err := Run(&Context{}, m, []Pass{OutlineBlocks, MergeFunctions}, Options{}); err != nil {
				t.Fatal(err)
			}
			calls := 0
			for _, n := range m.Func(Forward).Nodes {
				if _, ok := n.Op.(ir.Invoke); ok {
					calls++
				}
			}
			if calls != c.calls {
				t.Errorf("%d calls, want %d\n%s", calls, c.calls, m)
			}
		})
	}
}

// TestOutlineBlocksOfViews has many views of one value. A call cannot replace a view that is read
// outside, so the function stays as it is.
func TestOutlineBlocksOfViews(t *testing.T) {
	const views = 100
	var s, list strings.Builder
	s.WriteString("func @forward(%x: f32[4]) -> (y: f32[100,4]) {\n")
	for i := range views {
		fmt.Fprintf(&s, "  %%v%d = reshape %%x {shape=[1,4]} : f32[1,4]\n", i)
		fmt.Fprintf(&list, ", %%v%d", i)
	}
	fmt.Fprintf(&s, "  %%y = concat %s : f32[100,4]\n  return %%y\n}\n", list.String()[2:])
	m := parse(t, s.String())
	before := m.String()
	if changed, err := outlineBlocks(&Context{}, m); changed || err != nil {
		t.Errorf("changed: %t, error: %v", changed, err)
	}
	if m.String() != before {
		t.Errorf("after the pass:\n%s", m)
	}
}

func TestCandidates(t *testing.T) {
	kinds := []int{-1}
	for range 60 {
		kinds = append(kinds, 1, 2, 3)
	}
	kinds = append(kinds, -2)
	got := candidates(kinds)
	want := candidate{period: 12, count: 15, first: 1, last: 1} // 12 + 15 nodes are left of 180
	if len(got) == 0 || got[0] != want || !slices.IsSortedFunc(got, func(a, b candidate) int { return b.saved() - a.saved() }) {
		t.Errorf("candidates %v, want %v first", got, want)
	}
}
