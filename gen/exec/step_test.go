package exec_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/gen/program"
	"github.com/burngen/burngen/gen/target/targettest/text"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/runtime/rt"
)

// TestBudget runs a loop of 10 iterations, whose arena and results are known, within budgets and
// beyond.
func TestBudget(t *testing.T) {
	m := machine(t, `
func @f(%x: f32[64]) -> (y: f32[64], s: f32[10,64]) {
  %y, %s = loop %x {counted=true trips=10 scans=[f32[64]]} : f32[64], f32[10,64]
    region (%i: i64[], %go: bool[], %v: f32[64]) {
      %g, %w, %r = invoke %i, %go, %v {func="body"} : bool[], f32[64], f32[64]
      return %g, %w, %r
    }
  return %y, %s
}

func @body(%i: i64[], %go: bool[], %v: f32[64]) -> (g: bool[], w: f32[64], r: f32[64]) {
  %w = neg %v : f32[64]
  %r = abs %w : f32[64]
  return %go, %w, %r
}`)
	for _, c := range []struct {
		name   string
		budget exec.Budget
		fits   bool
	}{
		{"no limits", exec.Budget{}, true},
		{"all that it takes", exec.Budget{Steps: 1000, Bytes: 1 << 14, Work: 1 << 14}, true},
		{"iterations count", exec.Budget{Steps: 20}, false},
		{"a step", exec.Budget{Steps: 1}, false},
		{"operations of all iterations", exec.Budget{Work: 64 * 15}, false},
		{"bytes of a result", exec.Budget{Bytes: 10*64*4 - 1}, false},
		{"most of it all", exec.Budget{Steps: math.MaxInt64, Bytes: math.MaxInt64, Work: math.MaxInt64}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			m.Budget = c.budget
			_, _, err := m.Run(context.Background(), []any{make([]float32, 64)}, [][]int{{64}})
			if c.fits && err != nil || !c.fits && !errors.Is(err, exec.ErrBudget) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// TestStepNamesItsNode asserts that an error of a step names the node of the model, if there is one.
func TestStepNamesItsNode(t *testing.T) {
	for _, pos := range []string{"", "/Add"} {
		m, err := ir.Parse(`func @f(%x: f32[N], %z: f32[M]) -> (y: f32[N]) {
  check_dim {a=N b=M what="axis 0"}
  %y = neg %x : f32[N]
  return %y
}
`, op.Set)
		if err != nil {
			t.Fatal(err)
		}
		m.Func("f").Nodes[0].Pos = pos
		f, err := program.Compile(m, "f", text.Target{})
		if err != nil {
			t.Fatal(err)
		}
		run := func(n int) error {
			_, _, err := exec.New(f, text.Target{}, nil).Run(context.Background(), []any{make([]float32, 2), make([]float32, n)}, [][]int{{2}, {n}})
			return err
		}
		if err := run(2); err != nil {
			t.Error(err)
		}
		node := &rt.NodeError{}
		if err := run(3); err == nil || errors.As(err, &node) != (pos != "") || node.Node != pos {
			t.Errorf("node %q: error %v", pos, err)
		}
	}
}

// TestSizesOfResults asserts that a result that does not fit is an error before it is allocated.
func TestSizesOfResults(t *testing.T) {
	old := rt.ArenaLimit(1 << 10)
	defer rt.ArenaLimit(old)
	m := machine(t, `
func @f(%x: f32[N]) -> (y: f32[N,N]) {
  %y = strided_copy %x {shape=[N,N] strides=[0,1]} : f32[N,N]
  return %y
}`)
	for n, fits := range map[int]bool{0: true, 16: true, 17: false} {
		if _, _, err := m.Run(context.Background(), []any{make([]float32, n)}, [][]int{{n}}); (err == nil) != fits {
			t.Errorf("%d rows: error %v", n, err)
		}
	}
}
