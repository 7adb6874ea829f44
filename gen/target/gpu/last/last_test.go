package last_test

import (
	"math/rand/v2"
	"testing"

	"github.com/burngen/burngen/gen/target/gpu/last"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
)

// TestEval compares each operator with the operator on images whose channels come first.
func TestEval(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	tensor := func(shape ...int) *ir.Tensor {
		x := ir.NewTensor(ir.F32, shape...)
		for i := range x.Len() {
			x.SetFloat(i, float64(r.IntN(17)-8))
		}
		return x
	}
	eval := func(o ir.Op, args ...*ir.Tensor) *ir.Tensor {
		t.Helper()
		types := make([]ir.Type, len(args))
		for i, a := range args {
			types[i] = a.Type()
		}
		want, err := o.Infer(types)
		if err != nil {
			t.Fatal(err)
		}
		out, err := o.Eval(args)
		if err != nil {
			t.Fatal(err)
		}
		if !out[0].Type().Equal(want[0]) {
			t.Fatalf("%s: the result is %s, want %s", ir.OpName(o), out[0].Type(), want[0])
		}
		return out[0]
	}
	moved := func(x *ir.Tensor, perm ...int) *ir.Tensor { return eval(op.Transpose{Perm: perm}, x) }
	reshaped := func(x *ir.Tensor, shape ...int) *ir.Tensor {
		return eval(op.Reshape{Shape: dim.Consts(shape...)}, x)
	}
	window := op.Window{Kernel: []int{3, 2}, Strides: []int{2, 1}, Pads: []int{1, 0, 1, 1}}
	x, w, depthwise, bias := tensor(2, 6, 5, 4), tensor(4, 3, 3, 2), tensor(12, 1, 3, 2), tensor(12)
	toLast := func(x *ir.Tensor) *ir.Tensor { return moved(x, 0, 2, 3, 1) }
	for _, c := range []struct {
		first, last   ir.Op
		args, changed []*ir.Tensor
	}{
		{op.Conv{Window: window, Group: 2}, last.ConvLast{Window: window, Group: 2}, []*ir.Tensor{x, w}, []*ir.Tensor{toLast(x), toLast(w)}},
		{op.Conv{Window: window, Group: 6}, last.DepthwiseLast{Window: window}, []*ir.Tensor{x, depthwise, bias},
			[]*ir.Tensor{toLast(x), moved(reshaped(depthwise, 6, 2, 3, 2), 1, 2, 3, 0), bias}},
		{op.MaxPool{Window: window}, last.MaxPoolLast{Window: window}, []*ir.Tensor{x}, []*ir.Tensor{toLast(x)}},
		{op.AveragePool{Window: window, CountPad: true}, last.AveragePoolLast{Window: window, CountPad: true}, []*ir.Tensor{x}, []*ir.Tensor{toLast(x)}},
		{op.GlobalAveragePool{}, last.GlobalAveragePoolLast{}, []*ir.Tensor{x}, []*ir.Tensor{toLast(x)}},
	} {
		want, got := toLast(eval(c.first, c.args...)), eval(c.last, c.changed...)
		if !got.Equal(want) {
			t.Errorf("%s is %v, want %v", ir.OpName(c.last), got, want)
		}
	}
	a, b := tensor(2, 3, 5), tensor(5, 4)
	if got, want := eval(last.MatMulRows{}, a, moved(b, 1, 0)), eval(op.MatMul{}, a, b); !got.Equal(want) {
		t.Errorf("mat_mul_rows is %v, want %v", got, want)
	}
	wide := eval(last.ToLast{Channels: 8}, x)
	narrow := eval(op.Slice{Starts: make([]dim.Dim, 4), Shape: dim.Consts(2, 5, 4, 6), Steps: []int{1, 1, 1, 1}}, wide)
	if !narrow.Equal(toLast(x)) {
		t.Errorf("to_last is %v", wide)
	}
	for i := range wide.Len() {
		if i%8 >= 6 && wide.Float(i) != 0 {
			t.Fatalf("element %d of to_last is %v, want 0", i, wide.Float(i))
		}
	}
}
