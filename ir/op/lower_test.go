package op

import (
	"math"
	"slices"

	"github.com/burngen/burngen/ir"
)

// tester is what the helpers need of a testing.TB or a *rapid.T.
type tester interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// buildFunc returns the function that build makes of parameters of these types.
func buildFunc(t tester, types []ir.Type, build func(b *ir.Builder, params []*ir.Value) []*ir.Value) *ir.Func {
	t.Helper()
	f := &ir.Func{Name: "f"}
	b := ir.NewBuilder(f)
	err := ir.Try(func() {
		var params []*ir.Value
		for _, typ := range types {
			params = append(params, b.Param("x", typ))
		}
		b.Return(build(b, params)...)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range f.Results {
		f.ResultNames = append(f.ResultNames, r.Name)
	}
	return f
}

// nodeFunc is buildFunc of one node.
func nodeFunc(t tester, op ir.Op, types ...ir.Type) *ir.Func {
	t.Helper()
	return buildFunc(t, types, func(b *ir.Builder, params []*ir.Value) []*ir.Value { return b.Nodes(op, params...) })
}

// lowered returns a copy of f in which every operator that has a Lower is replaced by its result.
// This is repeated until nothing changes.
func lowered(t tester, f *ir.Func) *ir.Func {
	t.Helper()
	g := f.Clone()
	for round := 0; ; round++ {
		changed, err := g.Rewrite(func(b *ir.Builder, n *ir.Node) []*ir.Value {
			if op, ok := n.Op.(ir.Lowerer); ok {
				return op.Lower(b, n)
			}
			return nil
		})
		if err != nil {
			t.Fatalf("lower: %v\n%s", err, f)
		}
		if !changed {
			break
		}
		if round > 20 {
			t.Fatalf("lowering does not end:\n%s", g)
		}
	}
	g.Prune()
	verifyFunc(t, g)
	return g
}

// verifyFunc checks f and that its text form reads back as it is.
func verifyFunc(t tester, f *ir.Func) {
	t.Helper()
	m := &ir.Module{Funcs: []*ir.Func{f}}
	if err := ir.Verify(m); err != nil {
		t.Fatalf("%v\n%s", err, f)
	}
	text := m.String()
	back, err := ir.Parse(text, Set)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if back.String() != text {
		t.Fatalf("text form reads back as\n%snot\n%s", back, text)
	}
}

// run evaluates f.
func run(t tester, f *ir.Func, args ...*ir.Tensor) []*ir.Tensor {
	t.Helper()
	out, err := tryRun(f, args...)
	if err != nil {
		t.Fatalf("%v\n%s", err, f)
	}
	return out
}

func tryRun(f *ir.Func, args ...*ir.Tensor) ([]*ir.Tensor, error) {
	e := ir.Evaluator{Module: &ir.Module{Funcs: []*ir.Func{f}}}
	return e.Run(f, args)
}

// checkLower runs f and its lowered form on args and compares the results, to a
// relative tolerance. It returns the results.
func checkLower(t tester, f *ir.Func, tolerance float64, args ...*ir.Tensor) []*ir.Tensor {
	t.Helper()
	verifyFunc(t, f)
	want := run(t, f, args...)
	g := lowered(t, f)
	got := run(t, g, args...)
	for i := range want {
		if !closeTo(got[i], want[i], tolerance) {
			t.Fatalf("result %d of\n%sis %s,\nlowered to\n%sit is %s", i, f, want[i], g, got[i])
		}
	}
	return want
}

// closeTo reports whether two tensors are equal. Floats may differ by a relative tolerance. NaN
// equals NaN.
func closeTo(a, b *ir.Tensor, tolerance float64) bool {
	if a.DType != b.DType || !slices.Equal(a.Shape, b.Shape) {
		return false
	}
	if tolerance == 0 || !a.DType.IsFloat() {
		return a.Equal(b)
	}
	for i := range a.Len() {
		x, y := a.Float(i), b.Float(i)
		near := math.Abs(x-y) <= tolerance*max(1, math.Abs(x), math.Abs(y))
		if !near && x != y && (x == x || y == y) {
			return false
		}
	}
	return true
}

// counted returns a tensor whose elements are 0, 1, 2, ….
func counted(d ir.DType, shape ...int) *ir.Tensor {
	t := ir.NewTensor(d, shape...)
	for i := range t.Len() {
		t.SetNumber(i, float64(i))
	}
	return t
}
