package storage

import (
	"math"
	"slices"
	"testing"

	"github.com/burngen/burngen/gen/target/cpu/cost"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// blocks is a [Layouts] whose blockable values have a blocked form, except planar ones.
type blocks struct {
	b      *ir.Builder
	planar bool // no value has a blocked form yet
	lanes  bool // empty lanes are not known to be zero
	tile   int
}

func (l blocks) Block(v *ir.Value) *ir.Value {
	if !blockable(v.Type) {
		return nil
	}
	return ToBlocked(l.b, v)
}

func (l blocks) Blocked(v *ir.Value) *ir.Value {
	if l.planar {
		return nil
	}
	return l.Block(v)
}

func (l blocks) ZeroLanes(*ir.Value) bool { return !l.lanes }
func (l blocks) Tile(cost.Conv) int       { return l.tile }
func (l blocks) Raw() bool                { return l.tile == 0 }

// replaced is a node and the operator that replaces it.
type replaced struct {
	op ir.Op
	// operands holds types such as "f32[2,20,5,6]", constants, and nil for absent operands.
	operands []any
	layouts  blocks
	want     string // "" if the node stays
}

// check asserts that the node is replaced as wanted, by nodes that compute the same elements.
func (r replaced) check(t *testing.T) {
	t.Helper()
	compareNodes(t, r.op, r.operands, r.want, func(b *ir.Builder, n *ir.Node) *ir.Value {
		l := r.layouts
		l.b = b
		y := Relayout(b, n, l)
		if want := n.Results[0].Type; y != nil && !y.Type.Equal(want) {
			if blocked, ok := Blocked(want); !ok || !blocked.Equal(y.Type) {
				t.Errorf("%s: the result is %s", n, y.Type)
			}
			y = FromBlocked(b, y, want)
		}
		return y
	})
}

// compareNodes builds a node and what replaces it, nil if the node stays. It asserts that an
// operator called want is among the new nodes, "" if there are none, and that both compute the same
// elements.
func compareNodes(t *testing.T, o ir.Op, operands []any, want string, replace func(b *ir.Builder, n *ir.Node) *ir.Value) {
	t.Helper()
	f := &ir.Func{Name: "f", ResultNames: []string{"y", "z"}}
	b := ir.NewBuilder(f)
	var in []*ir.Tensor
	var names []string
	if err := ir.Try(func() {
		args := make([]*ir.Value, len(operands))
		for i, x := range operands {
			switch x := x.(type) {
			case string:
				typ := typeOf(t, x)
				in = append(in, numbered(typ))
				args[i] = b.Param("x", typ)
			case *ir.Tensor:
				args[i] = b.Const(x)
			}
		}
		y := b.Node(o, args...)
		before := len(f.Nodes)
		z := replace(b, y.Def)
		if z == nil {
			z = y
		} else {
			for _, n := range f.Nodes[before:] {
				names = append(names, ir.OpName(n.Op))
			}
		}
		b.Return(y, z)
	}); err != nil {
		t.Fatalf("%+v of %v: %v", o, operands, err)
	}
	if (want == "") != (names == nil) || want != "" && !slices.Contains(names, want) {
		t.Errorf("%+v of %v: replaced by %v, want %q", o, operands, names, want)
	}
	out, err := new(ir.Evaluator).Run(f, in)
	if err != nil {
		t.Fatalf("%+v of %v: %v", o, operands, err)
	}
	if !out[0].Type().Equal(out[1].Type()) {
		t.Fatalf("%+v of %v: %s became %s", o, operands, out[0].Type(), out[1].Type())
	}
	x, y := op.NumbersOf(out[0]), op.NumbersOf(out[1])
	for i := range x {
		if math.Abs(x[i]-y[i]) > 1e-4*math.Max(1, math.Abs(x[i])) {
			t.Errorf("%+v of %v: element %d is %v, want %v", o, operands, i, y[i], x[i])
			return
		}
	}
}

// numbered returns a tensor of small integers that do not repeat along an axis.
func numbered(typ ir.Type) *ir.Tensor {
	shape, _ := typ.Static()
	x := ir.NewTensor(typ.DType, shape...)
	for i := range x.Len() {
		v := i * 7 % 23
		if typ.DType != ir.U8 {
			v -= 11
		}
		if typ.DType.IsFloat() {
			x.SetFloat(i, float64(v))
		} else {
			x.SetInt(i, int64(v))
		}
	}
	return x
}

// TestMovementsOfBlocks asserts which operators that move elements stay in blocks, and that those
// that would fill or read empty lanes do not.
func TestMovementsOfBlocks(t *testing.T) {
	slice := func(first, channels, step int) op.Slice {
		return op.Slice{Starts: dim.Consts(0, first, 1, 0), Shape: dim.Consts(2, channels, 3, 6), Steps: []int{1, step, 1, 1}}
	}
	channels := func(first, channels, step int) op.Slice {
		return op.Slice{Starts: dim.Consts(0, first, 0, 0), Shape: dim.Consts(2, channels, 5, 6), Steps: []int{1, step, 1, 1}}
	}
	pad := func(channels int) op.Pad {
		return op.Pad{Mode: "constant", Before: dim.Consts(0, channels, 1, 0), After: dim.Consts(0, 0, 2, 3)}
	}
	one := ir.Scalar(ir.F32, 1)
	for _, r := range []replaced{
		{op.Concat{Axis: 1}, []any{"f32[2,16,5,6]", "f32[2,3,5,6]"}, blocks{}, "concat"},
		{op.Concat{Axis: 1}, []any{"f32[2,3,5,6]", "f32[2,16,5,6]"}, blocks{}, "gather_channels"},
		{op.Concat{Axis: 2}, []any{"f32[2,3,5,6]", "f32[2,3,1,6]"}, blocks{}, "concat"},
		{op.Concat{Axis: 1}, []any{"f32[2,16,5,6]", "f32[2,3,5,6]"}, blocks{planar: true}, ""},
		{slice(16, 20, 1), []any{"f32[2,36,5,6]"}, blocks{}, "slice"},
		{slice(16, 16, 1), []any{"f32[2,36,5,6]"}, blocks{}, "slice"},
		{slice(16, 19, 1), []any{"f32[2,36,5,6]"}, blocks{}, ""},
		{channels(16, 19, 1), []any{"f32[2,36,5,6]"}, blocks{}, "gather_channels"},
		{channels(1, 18, 2), []any{"f32[2,36,5,6]"}, blocks{}, "gather_channels"},
		{pad(0), []any{"f32[2,20,5,6]"}, blocks{}, "pad_blocked"},
		{pad(1), []any{"f32[2,20,5,6]"}, blocks{}, ""},
		{pad(0), []any{"f32[2,20,5,6]", one}, blocks{}, ""},
		{pad(0), []any{"f32[2,16,5,6]", one}, blocks{}, "pad_blocked"},
		{op.Transpose{Perm: []int{0, 2, 3, 1}}, []any{"f32[2,32,5,6]"}, blocks{}, "strided_copy"},
		{op.Transpose{Perm: []int{0, 2, 3, 1}}, []any{"f32[2,7,5,6]"}, blocks{}, "strided_copy"},
		{op.Transpose{Perm: []int{0, 2, 3, 1}}, []any{"f32[2,20,5,6]"}, blocks{}, ""},
		{op.Reduce{Kind: op.ReduceMean, Axes: []int{2, 3}}, []any{"f32[2,20,5,6]"}, blocks{}, "global_average_pool"},
		{op.Reduce{Kind: op.ReduceMean, Axes: []int{2, 3}, KeepDims: true}, []any{"f32[2,20,5,6]"}, blocks{}, "global_average_pool"},
		{op.Reduce{Kind: op.ReduceMean, Axes: []int{3}}, []any{"f32[2,20,5,6]"}, blocks{}, ""},
		{op.Reduce{Kind: op.ReduceMax, Axes: []int{2, 3}}, []any{"f32[2,20,5,6]"}, blocks{}, ""},
	} {
		r.check(t)
	}
}
