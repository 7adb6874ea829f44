package pass

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/op"
)

// parse returns the module of a text.
func parse(t testing.TB, text string) *ir.Module {
	t.Helper()
	m, err := ir.Parse(text, op.Set)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

const tiny = `func @forward(%x: f32[N]) -> (y: f32[N]) {
  %0 = neg %x : f32[N]
  return %0
}
`

// appendNeg returns a pass that makes y −y, count times.
func appendNeg(name string, count int, required bool) Pass {
	return Pass{Name: name, Required: required, Run: func(_ *Context, m *ir.Module) (bool, error) {
		if count == 0 {
			return false, nil
		}
		count--
		f := m.Funcs[0]
		return true, ir.Try(func() {
			b := ir.NewBuilder(f)
			b.Return(b.Node(op.Neg{}, f.Results[0]))
		})
	}}
}

func TestRun(t *testing.T) {
	t.Run("repeats until nothing changes and dumps what changed", func(t *testing.T) {
		m := parse(t, tiny)
		var dumps []string
		dump := func(i int, name string, _ *ir.Module) { dumps = append(dumps, fmt.Sprint(i, name)) }
		passes := []Pass{appendNeg("a", 1, false), appendNeg("b", 3, false)}
		if err := Run(&Context{}, m, passes, Options{Rounds: 10, Dump: dump}); err != nil {
			t.Fatal(err)
		}
		if got, want := strings.Join(dumps, " "), "1a 2b 3b 4b"; got != want {
			t.Errorf("dumps %s, want %s", got, want)
		}
		if got := len(m.Funcs[0].Nodes); got != 5 {
			t.Errorf("%d nodes, want 5", got)
		}
	})
	t.Run("runs at most the rounds", func(t *testing.T) {
		m := parse(t, tiny)
		if err := Run(&Context{}, m, []Pass{appendNeg("a", 100, false)}, Options{Rounds: 3}); err != nil {
			t.Fatal(err)
		}
		if got := len(m.Funcs[0].Nodes); got != 4 {
			t.Errorf("%d nodes, want 4", got)
		}
	})
	t.Run("stops at a number but for required passes", func(t *testing.T) {
		m, ctx := parse(t, tiny), &Context{}
		var ran []string
		dump := func(_ int, name string, _ *ir.Module) { ran = append(ran, name) }
		opts := Options{Stop: 2, Dump: dump}
		for _, prefix := range []string{"a", "b"} {
			passes := []Pass{appendNeg(prefix+"1", 1, false), appendNeg(prefix+"2", 1, true), appendNeg(prefix+"3", 1, false)}
			if err := Run(ctx, m, passes, opts); err != nil {
				t.Fatal(err)
			}
		}
		if got, want := strings.Join(ran, " "), "a1 a2 b2"; got != want {
			t.Errorf("ran %s, want %s", got, want)
		}
	})
	t.Run("names the pass that breaks the module", func(t *testing.T) {
		m := parse(t, tiny)
		breaks := Pass{Name: "break_types", Run: func(_ *Context, m *ir.Module) (bool, error) {
			m.Funcs[0].Nodes[0].Results[0].Type = ir.StaticTensor(ir.F32, 7)
			return true, nil
		}}
		err := Run(&Context{}, m, []Pass{breaks}, Options{})
		if err == nil || !strings.Contains(err.Error(), "break_types") || !strings.Contains(err.Error(), "infers") {
			t.Errorf("error %v", err)
		}
	})
	t.Run("names the pass that fails", func(t *testing.T) {
		cause := errors.New("cause")
		fails := Pass{Name: "fail_always", Run: func(*Context, *ir.Module) (bool, error) { return false, cause }}
		err := Run(&Context{}, parse(t, tiny), []Pass{fails}, Options{})
		if !errors.Is(err, cause) || !strings.Contains(err.Error(), "fail_always") {
			t.Errorf("error %v", err)
		}
	})
}

func TestFoldBudget(t *testing.T) {
	const text = `func @forward() -> (y: f32[4], z: f32[4]) {
  %a = constant {value=f32[4](1,2,3,4)} : f32[4]
  %b = constant {value=f32[4](2,3,4,5)} : f32[4]
  %0 = add %a, %b : f32[4]
  %1 = mul %a, %b : f32[4]
  return %0, %1
}
`
	for budget, want := range map[int64]int{31: 2, 32: 1, 63: 1, 64: 0} {
		t.Run(fmt.Sprint(budget, " bytes"), func(t *testing.T) {
			m := parse(t, text)
			if _, err := foldConstants(&Context{FoldBudget: budget}, m); err != nil {
				t.Fatal(err)
			}
			if n := left(m.Funcs[0]); n != want {
				t.Errorf("%d nodes left, want %d\n%s", n, want, m)
			}
		})
	}
}

// left counts the nodes of a function that have operands.
func left(f *ir.Func) (n int) {
	for node := range f.All() {
		if len(node.Args) > 0 {
			n++
		}
	}
	return n
}

func TestFoldWork(t *testing.T) {
	// square multiplies matrices of n rows and columns, each by the same one.
	square := func(n, times int) *ir.Module {
		f := &ir.Func{Name: Forward, ResultNames: []string{"y"}}
		b := ir.NewBuilder(f)
		c := b.Const(ir.Splat(ir.FloatTensor(ir.F32, 1).Reshape(), n, n))
		v := c
		for range times {
			v = b.Node(op.MatMul{}, v, c)
		}
		f.Results = []*ir.Value{v}
		return &ir.Module{Funcs: []*ir.Func{f}}
	}
	boxes := func(n int) *ir.Module {
		f := &ir.Func{Name: Forward, ResultNames: []string{"y"}}
		b := ir.NewBuilder(f)
		one := ir.FloatTensor(ir.F32, 1).Reshape()
		f.Results = []*ir.Value{b.Node(op.SelectBoxes{}, b.Const(ir.Splat(one, 1, n, 4)), b.Const(ir.Splat(one, 1, 1, n)), b.Const(ir.IntTensor(ir.I64, 1).Reshape()), b.Const(one))}
		return &ir.Module{Funcs: []*ir.Func{f}}
	}
	for name, c := range map[string]struct {
		m    *ir.Module
		left int
	}{
		"a product of 64":      {square(64, 1), 0},
		"20 products of 64":    {square(64, 20), 0},
		"100 products of 64":   {square(64, 100), 38},
		"a product of 1024":    {square(1024, 1), 1},
		"a product of 2^20":    {square(1<<20, 1), 1},
		"comparisons of 100":   {boxes(100), 0},
		"comparisons of 10000": {boxes(10_000), 1},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := foldConstants(&Context{}, c.m); err != nil {
				t.Fatal(err)
			}
			if n := left(c.m.Funcs[0]); n != c.left {
				t.Errorf("%d nodes left, want %d", n, c.left)
			}
		})
	}
}
