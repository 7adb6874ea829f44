package ir_test

import (
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

func seq(elem ir.Type) ir.Type { return ir.SequenceOf(elem) }

// unranked returns the type of elements of any rank.
func unranked(d ir.DType) ir.Type { return ir.Type{DType: d} }

func TestContainerTypesReadBack(t *testing.T) {
	for _, text := range []string{
		"seq<f32[2,3]>", "seq<f32[?,3]>", "seq<f32>", "seq<string[]>", "opt<seq<i64[?]>>", "opt<f32[]>",
		"map<i64,f32[]>", "seq<map<string,f32[]>>",
	} {
		source := "func @f(%x: " + text + ") -> (y: " + text + ") {\n  return %x\n}\n"
		m, err := ir.Parse(source, op.Set)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := m.String(); got != source {
			t.Errorf("got %s, want %s", got, source)
		}
		if err := ir.Verify(m); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// A symbol in a container would be bound by nothing.
func TestElementsHaveNoSymbols(t *testing.T) {
	elem := ir.ElemOf(ir.TensorOf(ir.F32, dim.Sym("N"), dim.Const(3)))
	if got := elem.String(); got != "f32[?,3]" {
		t.Error(got)
	}
	f := &ir.Func{Block: ir.Block{Params: []*ir.Value{{Name: "x", Type: seq(elem)}}}}
	if s := f.Symbols(); len(s) > 0 {
		t.Error(s)
	}
}

func TestJoin(t *testing.T) {
	f32 := func(dims ...int) ir.Type { return ir.StaticTensor(ir.F32, dims...) }
	for _, c := range []struct {
		a, b ir.Type
		want string // "" for an error
	}{
		{seq(f32(2, 3)), seq(f32(2, 3)), "seq<f32[2,3]>"},
		{seq(f32(2, 3)), seq(f32(4, 3)), "seq<f32[?,3]>"},
		{seq(unranked(ir.F32)), seq(f32(4)), "seq<f32[4]>"},
		{seq(f32(4)), seq(unranked(ir.F32)), "seq<f32[4]>"},
		{ir.OptionalOf(seq(f32(1))), ir.OptionalOf(seq(f32(2))), "opt<seq<f32[?]>>"},
		{seq(f32(2)), seq(f32(2, 3)), "seq<f32>"},
		{seq(f32(2)), seq(ir.StaticTensor(ir.I64, 2)), ""},
		{seq(f32(2)), ir.OptionalOf(f32(2)), ""},
		{ir.MapOf(ir.I64, f32()), ir.MapOf(ir.String, f32()), ""},
	} {
		got, err := ir.Join(c.a, c.b)
		if (err == nil) != (c.want != "") || err == nil && got.String() != c.want {
			t.Errorf("%s and %s: %s, %v, want %q", c.a, c.b, got, err, c.want)
		}
		if err == nil && (!c.a.Within(got) || !c.b.Within(got)) {
			t.Errorf("%s or %s is not within %s", c.a, c.b, got)
		}
	}
}

func TestWithin(t *testing.T) {
	narrow, wide := seq(ir.StaticTensor(ir.F32, 2)), seq(ir.TensorOf(ir.F32, dim.Any))
	if !narrow.Within(wide) || wide.Within(narrow) {
		t.Error("every extent is one of any, and not the other way round")
	}
	if narrow.Within(seq(ir.StaticTensor(ir.F32, 2, 2))) {
		t.Error("another rank")
	}
}

// The evaluator compares the tensors of containers with their types.
func TestEvaluatedContainersAreChecked(t *testing.T) {
	m, err := ir.Parse("func @f(%x: seq<f32[?,2]>) -> (y: seq<f32[?,2]>) {\n  return %x\n}\n", op.Set)
	if err != nil {
		t.Fatal(err)
	}
	e := &ir.Evaluator{Module: m}
	elem := *m.Funcs[0].Params[0].Type.Elem
	good := ir.SequenceTensor(elem, ir.NewTensor(ir.F32, 1, 2), ir.NewTensor(ir.F32, 0, 2))
	out, err := e.Run(m.Funcs[0], []*ir.Tensor{good})
	if err != nil || !out[0].Equal(good) {
		t.Error(out, err)
	}
	for name, bad := range map[string]*ir.Tensor{
		"another extent":  ir.SequenceTensor(elem, ir.NewTensor(ir.F32, 1, 3)),
		"another rank":    ir.SequenceTensor(elem, ir.NewTensor(ir.F32, 2)),
		"another type":    ir.SequenceTensor(elem, ir.NewTensor(ir.F64, 1, 2)),
		"a tensor":        ir.NewTensor(ir.F32, 1, 2),
		"a bare optional": ir.OptionalTensor(elem, nil),
	} {
		if _, err := e.Run(m.Funcs[0], []*ir.Tensor{bad}); err == nil || !strings.Contains(err.Error(), "expected") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
