package gpu_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/gen/target/gpu"
	"github.com/burngen/burngen/gen/target/gpu/last"
	"github.com/burngen/burngen/gen/target/gpu/launch"
	"github.com/burngen/burngen/gen/value"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/ir/pass"
)

// small returns a tensor of small integers, whose sums and products are exact.
func small(d ir.DType, shape ...int) *ir.Tensor {
	r, x := rand.New(rand.NewPCG(7, uint64(len(shape)))), ir.NewTensor(d, shape...)
	for i := range x.Len() {
		if v := r.IntN(7) - 3; d.IsFloat() {
			x.SetFloat(i, float64(v))
		} else {
			x.SetInt(i, int64(v))
		}
	}
	return x
}

// hosts are applications of operators whose kernels can compute elementwise operators.
var hosts = []struct {
	op   ir.Op
	args []*ir.Tensor
}{
	{last.ConvLast{Window: op.Window{Kernel: []int{3, 3}, Pads: []int{1, 1, 1, 1}}, Group: 1}, []*ir.Tensor{small(ir.F32, 2, 5, 4, 4), small(ir.F32, 6, 3, 3, 4), small(ir.F32, 6)}},
	{last.DepthwiseLast{Window: op.Window{Kernel: []int{3}}}, []*ir.Tensor{small(ir.F32, 2, 7, 4), small(ir.F32, 1, 3, 4)}},
	{op.MatMul{}, []*ir.Tensor{small(ir.F32, 2, 3, 70, 5), small(ir.F32, 3, 5, 66)}},
	{op.MatMul{}, []*ir.Tensor{small(ir.F32, 4, 5), small(ir.F32, 5)}},
	{op.MatMul{}, []*ir.Tensor{small(ir.F32, 1, 5), small(ir.F32, 3, 5, 2)}},
	{op.Gemm{Alpha: 1, Beta: 1}, []*ir.Tensor{small(ir.F32, 4, 5), small(ir.F32, 5, 6), small(ir.F32, 6)}},
	{op.MatMulInteger{}, []*ir.Tensor{small(ir.I8, 4, 5), small(ir.I8, 5, 6)}},
	{op.MaxPool{Window: op.Window{Kernel: []int{2, 2}}}, []*ir.Tensor{small(ir.F32, 2, 3, 5, 4)}},
	{op.AveragePool{Window: op.Window{Kernel: []int{2, 2}}}, []*ir.Tensor{small(ir.F32, 2, 3, 5, 4)}},
	{op.GlobalAveragePool{}, []*ir.Tensor{small(ir.F32, 2, 3, 4, 4)}},
	{op.Reduce{Kind: op.ReduceSum, Axes: []int{1}, KeepDims: true}, []*ir.Tensor{small(ir.F32, 3, 100, 2)}},
	{op.Reduce{Kind: op.ReduceMax, Axes: []int{0}}, []*ir.Tensor{small(ir.I32, 5, 3, 2)}},
	{op.Softmax{Axis: 1}, []*ir.Tensor{small(ir.F32, 3, 5, 2)}},
	{op.LayerNormalization{Axis: 1, Epsilon: 1e-3}, []*ir.Tensor{small(ir.F32, 3, 70), small(ir.F32, 70), small(ir.F32, 70)}},
}

// TestFuseLaunches adds a bias, scales by a number for each row, and adds a residual.
func TestFuseLaunches(t *testing.T) {
	for _, c := range hosts {
		for _, symbolic := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s %v symbolic %v", ir.OpName(c.op), c.args[0].Shape, symbolic), func(t *testing.T) {
				f, args := endedHost(t, c.op, c.args, symbolic)
				alone, err := launch.Of(f.Nodes[0], launch.Options{})
				if err != nil {
					t.Fatal(err)
				}
				launched(t, f, args, len(alone))
			})
		}
	}
}

// TestFuseCopies adds transposed and repeated operands to each other, and to a product.
func TestFuseCopies(t *testing.T) {
	for _, product := range []bool{false, true} {
		f := &ir.Func{Name: pass.Forward, ResultNames: []string{"y"}}
		b := ir.NewBuilder(f)
		n, three, four := dim.Sym("N"), dim.Const(3), dim.Const(4)
		x, row := b.Param("x", ir.TensorOf(ir.F32, four, n, three)), b.Param("row", ir.TensorOf(ir.F32, four, dim.Const(1)))
		v, w := b.Param("v", ir.TensorOf(ir.F32, n, three, three)), b.Param("w", ir.TensorOf(ir.F32, three, four))
		args := []*ir.Tensor{small(ir.F32, 4, 2, 3), small(ir.F32, 4, 1), small(ir.F32, 2, 3, 3), small(ir.F32, 3, 4)}
		y := b.Node(op.Add{}, op.TransposeBy(b, x, 1, 2, 0), op.TransposeBy(b, row, 1, 0))
		if product {
			y = b.Node(op.Mul{}, y, b.Node(op.MatMul{}, v, w))
		} else {
			f.Params, args = f.Params[:2], args[:2]
		}
		b.Return(b.Node(op.Relu{}, y))
		launched(t, f, args, 1)
	}
}

// launched compares the results of a function on interpreted kernels with the evaluator's, and counts its launches.
func launched(t *testing.T, f *ir.Func, args []*ir.Tensor, launches int) {
	t.Helper()
	want, err := (&ir.Evaluator{Module: &ir.Module{Funcs: []*ir.Func{f}}}).Run(f, args)
	if err != nil {
		t.Fatal(err)
	}
	device := &counter{}
	x := gpu.Target{Language: interpreted.Language, Device: device}
	m := &ir.Module{Funcs: []*ir.Func{f}}
	if err := pass.All(&pass.Context{Target: x}, m, pass.Options{}); err != nil {
		t.Fatal(err)
	}
	machine, err := exec.Prepared(x, m, pass.Prepare, pass.Forward)
	if err != nil {
		t.Fatal(err)
	}
	data, shapes := make([]any, len(args)), make([][]int, len(args))
	for i, a := range args {
		data[i], shapes[i] = value.ToGo(a), a.Shape
	}
	out, outShapes, err := machine.Run(context.Background(), data, shapes)
	if err != nil {
		t.Fatal(err)
	}
	for k, r := range f.Results {
		got, err := value.FromGo(r.Type, outShapes[k], out[k])
		if err != nil {
			t.Fatal(err)
		}
		for i := range got.Len() {
			if d := got.Number(i) - want[k].Number(i); !(d < 1e-4 && d > -1e-4) {
				t.Fatalf("result %d: element %d is %v, want %v\n%s", k, i, got.Number(i), want[k].Number(i), m)
			}
		}
	}
	if device.launches != launches {
		t.Errorf("%d launches, want %d\n%s", device.launches, launches, m)
	}
}

// endedHost returns a function of an operator with elementwise operators on its result, and its arguments. If it is
// symbolic, the first extent of the first operand is a symbol.
func endedHost(t *testing.T, o ir.Op, operands []*ir.Tensor, symbolic bool) (*ir.Func, []*ir.Tensor) {
	t.Helper()
	f := &ir.Func{Name: pass.Forward, ResultNames: []string{"y"}}
	b := ir.NewBuilder(f)
	var args []*ir.Tensor
	err := ir.Try(func() {
		var values []*ir.Value
		for i, x := range operands {
			typ := x.Type()
			if i == 0 && symbolic {
				typ.Shape[0] = dim.Sym("N")
			}
			values, args = append(values, b.Param("x", typ)), append(args, x)
		}
		y := b.Node(o, values...)
		whole := y.Type
		// operand returns an operand with the extents of y along some axes, and 1 along the others.
		operand := func(has func(axis int) bool) *ir.Value {
			typ := ir.TensorOf(whole.DType, slices.Clone(whole.Shape)...)
			for axis := range typ.Shape {
				if !has(axis) {
					typ.Shape[axis] = dim.Const(1)
				}
			}
			shape, _ := dim.Ints(typ.Subst(func(string) (dim.Dim, bool) { return dim.Const(operands[0].Shape[0]), true }).Shape)
			args = append(args, small(whole.DType, shape...))
			return b.Param("operand", typ)
		}
		y = b.Node(op.Add{}, y, operand(func(axis int) bool { return axis == whole.Rank()-1 }))
		y = b.Node(op.Mul{}, y, operand(func(axis int) bool { return axis == 1 }))
		y = b.Node(op.Add{}, y, operand(func(int) bool { return true }))
		b.Return(b.Node(op.Relu{}, y))
	})
	if err != nil {
		t.Fatal(err)
	}
	return f, args
}
