package ir_test

import (
	"strings"
	"testing"

	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// unified builds a function of a [N,3] and b [M,3]. It makes N and M equal between before and
// after.
func unified(t *testing.T, before, after func(b *ir.Builder, x, y *ir.Value)) *ir.Func {
	t.Helper()
	f := &ir.Func{Name: "f"}
	b := ir.NewBuilder(f)
	err := ir.Try(func() {
		x := b.Param("a", ir.TensorOf(ir.F32, dim.Sym("N"), dim.Const(3)))
		y := b.Param("b", ir.TensorOf(ir.F32, dim.Sym("M"), dim.Const(3)))
		before(b, x, y)
		b.Node(op.Concat{Axis: 1}, x, y)
		after(b, x, y)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := ir.Verify(&ir.Module{Funcs: []*ir.Func{f}}); err != nil {
		t.Error(err)
	}
	if strings.Contains(f.String(), "M") {
		t.Errorf("M is still there:\n%s", f)
	}
	return f
}

func TestUnifyReplacesEverywhere(t *testing.T) {
	none := func(*ir.Builder, *ir.Value, *ir.Value) {}
	t.Run("types", func(t *testing.T) {
		f := unified(t, func(b *ir.Builder, x, y *ir.Value) { b.Node(op.Relu{}, y) }, none)
		if got := f.Nodes[0].Results[0].Type.String(); got != "f32[N,3]" {
			t.Error(got)
		}
	})
	t.Run("elements", func(t *testing.T) {
		unified(t, func(b *ir.Builder, x, y *ir.Value) { b.Dims(y.Type.Shape...) }, none)
	})
	t.Run("extents that were looked at before", func(t *testing.T) {
		var old dim.Dim
		unified(t, func(b *ir.Builder, x, y *ir.Value) { old = y.Type.Shape[0] },
			func(b *ir.Builder, x, y *ir.Value) { b.Node(op.Reshape{Shape: []dim.Dim{dim.Const(3), old}}, x) })
	})
	t.Run("blocks of no node yet", func(t *testing.T) {
		var block *ir.Block
		unified(t, func(b *ir.Builder, x, y *ir.Value) {
			block = b.Block(func(b *ir.Builder) { b.Return(b.Node(op.Relu{}, y)) })
		}, none)
		if got := block.Results[0].Type.String(); got != "f32[N,3]" {
			t.Error(got)
		}
	})
}

// sized is an operator whose operand has an extent that is an attribute.
type sized struct{ Size dim.Dim }

func (op sized) Infer(in []ir.Type) ([]ir.Type, error) {
	if !in[0].Shape[0].Equal(op.Size) {
		return nil, &ir.Unproven{A: in[0].Shape[0], B: op.Size, What: "size"}
	}
	return in, nil
}

func (sized) Eval(in []*ir.Tensor) ([]*ir.Tensor, error) { return in, nil }

func TestUnifyOfAttributes(t *testing.T) {
	f := &ir.Func{Name: "f", ResultNames: []string{"y"}}
	b := ir.NewBuilder(f)
	err := ir.Try(func() {
		x := b.Param("a", ir.TensorOf(ir.F32, dim.Sym("N")))
		b.Param("b", ir.TensorOf(ir.F32, dim.Sym("M")))
		b.Return(b.Node(sized{dim.Sym("M")}, x))
	})
	if err != nil || f.Results[0].Type.String() != "f32[N]" || f.Params[1].Type.String() != "f32[N]" {
		t.Errorf("%v\n%s", err, f)
	}
}

func TestSymbolNames(t *testing.T) {
	for text, want := range map[string]string{
		"N": "N", "batch size": "batch_size", "2N": "_N", "": "d", "---": "d", "é": "d", "overflow": "overflow_",
		strings.Repeat("x", 100): strings.Repeat("x", 40),
	} {
		got := ir.SymbolName(text)
		if got != want || dim.Sym(got).Overflow() {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestLargeExtentsAreTypeErrors(t *testing.T) {
	for text, want := range map[string]int64{"negative": -1 << 40, "64-bit size": 1 << 62} {
		err := ir.TensorOf(ir.F32, dim.Const64(want)).Check()
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%d: %v", want, err)
		}
	}
}

// TestElementsAreFollowedWithinABudget builds a chain of shape arithmetic whose elements are large
// expressions. After some nodes the builder must stop computing the elements.
func TestElementsAreFollowedWithinABudget(t *testing.T) {
	f := &ir.Func{Name: "f"}
	b := ir.NewBuilder(f)
	err := ir.Try(func() {
		dims := make([]dim.Dim, 200)
		sum := dim.Const(0)
		for i := range 40 {
			x := b.Param("x", ir.TensorOf(ir.F32, dim.Sym(b.Symbol("s"))))
			sum = sum.Add(x.Type.Shape[0])
			for k := i; k < len(dims); k += 40 {
				dims[k] = sum
			}
		}
		v := b.Dims(dims...)
		for range 2000 {
			v = b.Node(op.Neg{}, v)
		}
		if v.Elems != nil {
			t.Error("the elements are still known")
		}
	})
	if err != nil {
		t.Error(err)
	}
}

// What only a block needs to be equal is checked where the block runs.
func TestBlocksCheckWhatOnlyTheyNeed(t *testing.T) {
	f := &ir.Func{Name: "f", ResultNames: []string{"y"}}
	b := ir.NewBuilder(f)
	err := ir.Try(func() {
		flag := b.Param("c", ir.TensorOf(ir.Bool))
		x := b.Param("x", ir.TensorOf(ir.F32, dim.Sym("N"), dim.Const(3)))
		y := b.Param("y", ir.TensorOf(ir.F32, dim.Sym("M"), dim.Const(3)))
		then := b.Block(func(b *ir.Builder) {
			both := b.Node(op.Concat{Axis: 1}, x, y)
			b.Return(b.Node(op.Slice{Starts: dim.Consts(0, 0), Shape: dim.Consts(1, 3), Steps: []int{1, 1}}, both))
		})
		otherwise := b.Block(func(b *ir.Builder) {
			b.Return(b.Node(op.Slice{Starts: dim.Consts(0, 0), Shape: dim.Consts(1, 3), Steps: []int{1, 1}}, x))
		})
		b.Return(b.NodeBlocks(op.If{}, []*ir.Block{then, otherwise}, flag)...)
	})
	if err != nil {
		t.Fatal(err)
	}
	m := &ir.Module{Funcs: []*ir.Func{f}}
	if err := ir.Verify(m); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		flag bool
		rows int
		ok   bool
	}{{true, 2, true}, {true, 5, false}, {false, 5, true}} {
		flag := ir.NewTensor(ir.Bool)
		flag.SetBool(0, c.flag)
		args := []*ir.Tensor{flag, ir.NewTensor(ir.F32, 2, 3), ir.NewTensor(ir.F32, c.rows, 3)}
		if _, err := (&ir.Evaluator{Module: m}).Run(f, args); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
