package nn_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/nn"
	"github.com/burngen/burngen/ir/op"
)

// agrees compares a function of values with its recording, evaluated and compiled.
func agrees(t *testing.T, f func([]nn.Value) []nn.Value, inputs []nn.Value, types ...string) *ir.Module {
	t.Helper()
	parsed := make([]ir.Type, len(types))
	for i, text := range types {
		s, err := ir.ParseSignature("(" + text + ") -> ()")
		if err != nil {
			t.Fatal(err)
		}
		parsed[i] = s.Params[0]
	}
	want := f(inputs)
	m, err := recorded(nil, parsed, f, len(want))
	if err != nil {
		t.Fatal(err)
	}
	for i, got := range evaluated(t, m, nil, inputs) {
		if w := tensor(want[i]); !got.Equal(w) {
			t.Errorf("result %d is %s, want %s", i, got, w)
		}
	}
	whole := m.Module.Clone()
	runs(t, m.Module, inputs, want)
	return whole
}

// count counts the nodes of an operator in a block, without those in blocks in it.
func count(b *ir.Block, name string) int {
	n := 0
	for _, x := range b.Nodes {
		if ir.OpName(x.Op) == name {
			n++
		}
	}
	return n
}

func TestIf(t *testing.T) {
	f := func(in []nn.Value) []nn.Value {
		x := in[0]
		y := nn.If(x.Sum().Greater(0), func() nn.Value { return x.Exp().Add(x.Sin()) }, func() nn.Value { return x.Neg() })
		return []nn.Value{y.Mul(2)}
	}
	for _, x := range []nn.Value{nn.Of([]float64{1, 2}), nn.Of([]float64{-1, -2})} {
		m := agrees(t, f, []nn.Value{x}, "f32[N]")
		fn := m.Func("forward")
		if count(&fn.Block, "exp")+count(&fn.Block, "neg") > 0 {
			t.Errorf("a branch is computed outside:\n%s", fn)
		}
	}
	t.Run("of several values", func(t *testing.T) {
		type pair struct{ A, B nn.Value }
		f := func(in []nn.Value) []nn.Value {
			x := in[0]
			p := nn.If(x.Max().Greater(1), func() pair { return pair{x, x.Sum()} }, func() pair { return pair{x.Neg(), x.Max()} })
			return []nn.Value{p.A, p.B}
		}
		agrees(t, f, []nn.Value{nn.Of([]float64{1, 2})}, "f32[N]")
		agrees(t, f, []nn.Value{nn.Of([]float64{1, 0.5})}, "f32[N]")
	})
	t.Run("of other extents", func(t *testing.T) {
		f := func(in []nn.Value) []nn.Value {
			x := in[0]
			return []nn.Value{nn.If(x.Sum().Greater(0), func() nn.Value { return x }, func() nn.Value { return nn.Concat(0, x, x) }).Exp()}
		}
		agrees(t, f, []nn.Value{nn.Of([]float64{1, 2})}, "f32[N]")
		agrees(t, f, []nn.Value{nn.Of([]float64{1, -2})}, "f32[N]")
	})
	t.Run("its gradient", func(t *testing.T) {
		x := nn.Of([]float64{1, 2})
		y := nn.If(x.Sum().Greater(0), func() nn.Value { return x.Square() }, func() nn.Value { return x })
		wants(t, nn.Grad(y.Sum(), x)[0], 2, 4)
	})
}

func TestWhile(t *testing.T) {
	type state struct {
		Sum, Count nn.Value
	}
	f := func(in []nn.Value) []nn.Value {
		x := in[0]
		s := nn.While(state{nn.ZerosLike(x), nn.Of(0)},
			func(s state) nn.Value { return s.Sum.Max().Less(10) },
			func(s state) state { return state{s.Sum.Add(x.Exp()), s.Count.Add(1)} })
		return []nn.Value{s.Sum, s.Count}
	}
	m := agrees(t, f, []nn.Value{nn.Of([]float64{0.5, 1})}, "f32[N]")
	fn := m.Func("forward")
	if count(&fn.Block, "exp") != 1 {
		t.Errorf("what does not depend on a turn is not outside:\n%s", fn)
	}
	for _, n := range fn.Nodes {
		for _, b := range n.Blocks {
			if count(b, "add") != 2 || count(b, "exp") != 0 {
				t.Errorf("the body is\n%s", fn)
			}
		}
	}
	if got := nn.While(nn.Of(1), func(n nn.Value) nn.Value { return n.Less(100) }, func(n nn.Value) nn.Value { return n.Mul(3) }).Item(); got != 243 {
		t.Errorf("%v, want 243", got)
	}
}

func TestScan(t *testing.T) {
	f := func(in []nn.Value) []nn.Value {
		last, all := nn.Scan(in[0], in[1], func(h, x nn.Value) (nn.Value, nn.Value) {
			h = h.Mul(0.5).Add(x)
			// A loop in the loop.
			twice, _ := nn.Scan(nn.Zeros(2), h, func(g, _ nn.Value) (nn.Value, nn.Value) { g = g.Add(x.Mul(h)); return g, g })
			return h, twice.Tanh()
		})
		return []nn.Value{last, all}
	}
	agrees(t, f, []nn.Value{nn.Of([][]float64{{1, 2}, {3, 4}, {5, 6}}), nn.Of([]float64{0, 1})}, "f32[S,N]", "f32[N]")
	t.Run("its gradient", func(t *testing.T) {
		x := nn.Of([]float64{1, 2, 3})
		last, _ := nn.Scan(x, nn.Scalar(1), func(h, v nn.Value) (nn.Value, nn.Value) { h = h.Mul(v); return h, h })
		wants(t, nn.Grad(last, x)[0], 6, 3, 2)
	})
	t.Run("draws in every turn", func(t *testing.T) {
		f := func(in []nn.Value) []nn.Value {
			_, y := nn.Scan(in[0], nn.Scalar(0), func(s, x nn.Value) (nn.Value, nn.Value) { return s.Add(1), x.Add(nn.Uniform(0, 1)) })
			return []nn.Value{y}
		}
		m, err := recorded(nil, []ir.Type{ir.TensorOf(ir.F32, dim.Sym("N"))}, f, 1)
		if err != nil {
			t.Fatal(err)
		}
		if fn := m.Module.Func("forward"); count(&fn.Block, "random_uniform") != 0 {
			t.Errorf("numbers are drawn once:\n%s", fn)
		}
	})
}

func TestControlFlowRefuses(t *testing.T) {
	x := nn.Ones(3)
	for name, c := range map[string]struct {
		f    func()
		want string
	}{
		"branches of other types":      {func() { nn.If(x.Sum().Greater(0), func() nn.Value { return x }, func() nn.Value { return x.Int() }) }, "If: the branches make f32[3] and i64[3]"},
		"branches of other ranks":      {func() { nn.If(x.Sum().Greater(0), func() nn.Value { return x }, func() nn.Value { return x.Sum() }) }, "If: the branches make f32[3] and f32[]"},
		"a condition that is a number": {func() { nn.If(x.Sum(), func() nn.Value { return x }, func() nn.Value { return x }) }, "If: condition: one bool expected, not f32[]"},
		"a loop that grows": {func() {
			nn.While(x, func(v nn.Value) nn.Value { return v.Sum().Less(9) }, func(v nn.Value) nn.Value { return nn.Concat(0, v, v) })
		}, "While: the loop begins with f32[3], a turn makes f32[6]"},
		"no values": {func() { nn.If(x.Sum().Greater(0), func() int { return 1 }, func() int { return 2 }) }, "If: int is not an nn.Value and has none"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := nn.Try(c.f); err == nil || !strings.HasSuffix(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	t.Run("a value of a turn used outside", func(t *testing.T) {
		_, err := recorded(nil, []ir.Type{ir.TensorOf(ir.F32, dim.Sym("N"))}, just(func(x nn.Value) nn.Value {
			var leaked nn.Value
			nn.Scan(x, nn.Scalar(0), func(s, v nn.Value) (nn.Value, nn.Value) { leaked = s.Add(v); return leaked, v })
			return leaked
		}), 1)
		if err == nil || !strings.HasSuffix(err.Error(), "the value depends on a turn of a loop, and is used outside of it") {
			t.Error(err)
		}
	})
}

// A gradient may be part of a description.
func TestRecordedGradient(t *testing.T) {
	lin := nn.NewLinear(2, 1)
	model := &struct{ Lin nn.Linear }{lin}
	f := just(func(x nn.Value) nn.Value {
		y := nn.SiLU(lin.Forward(x))
		return nn.Grad(y.Sum(), x)[0].Norm(2, 1).Sub(1).Square().Mean()
	})
	nn.Name(model)
	x := nn.Of([][]float64{{1, 2}, {-1, 0.5}})
	want := f([]nn.Value{x})
	m, err := recorded(model, []ir.Type{ir.TensorOf(ir.F32, dim.Sym("N"), dim.Const(2))}, f, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got := evaluated(t, m, model, []nn.Value{x})[0]; !got.Equal(tensor(want[0])) {
		t.Errorf("%s, want %v", got, want[0])
	}
	runs(t, m.Module, []nn.Value{x}, want)
	if g := nn.Grad(want[0], lin.Weight.Value())[0]; g.Norm(2).Item() == 0 {
		t.Error("a gradient has no gradient")
	}
}

// What binds extents stays where it was imported.
func TestRecordedExtentsOfData(t *testing.T) {
	f := func(in []nn.Value) []nn.Value {
		at := in[0].Greater(0).ArgWhere()
		return []nn.Value{at, in[0].MaskSelect(in[0].Greater(0)).Sum()}
	}
	m := agrees(t, f, []nn.Value{nn.Of([]float64{1, -1, 2})}, "f32[N]")
	// What mentions such an extent needs what binds it.
	agrees(t, just(func(x nn.Value) nn.Value {
		n := x.Greater(0).ArgWhere().Dim(0)
		return nn.Concat(0, nn.Full(3, n), x)
	}), []nn.Value{nn.Of([]float64{1, -1, 2})}, "f32[N]")
	if !slices.ContainsFunc(m.Func("forward").Nodes, func(n *ir.Node) bool { _, ok := n.Op.(op.NonZero); return ok }) {
		t.Error("there is no non_zero")
	}
}
