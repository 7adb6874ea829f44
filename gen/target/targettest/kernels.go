package targettest

import (
	"context"
	"flag"
	"fmt"
	"testing"

	"github.com/burngen/burngen/gen/exec"
	"github.com/burngen/burngen/ir"
	"github.com/burngen/burngen/ir/dim"
	"github.com/burngen/burngen/ir/op"
	"github.com/burngen/burngen/ir/pass"
	"github.com/burngen/burngen/runtime/kerneltest"
)

var everyKernel = flag.Bool("kernels", false, "run all tests of package kerneltest on a device")

// Kernels runs the tests of package kerneltest on kernels of a target. It tests kernels whose
// operands are stored in the same way on all targets. The tests try many sizes, special numbers, and
// the accuracy of each operator. Without the flag -kernels, Kernels runs only the test with the
// fewest launches. a is the accuracy that the target promises.
func Kernels(t *testing.T, x Target, a kerneltest.Accuracy) {
	t.Logf("the target promises %+v", a)
	k := kernels{t, x}
	t.Run("group norm", func(t *testing.T) {
		kerneltest.GroupNorm(t, func(dst, src, scale, bias []float32, n, groups, channels, pixels int, eps float32) {
			if scale == nil {
				scale = ones(channels)
			}
			k.norm(op.GroupNormalization{Groups: groups, Epsilon: float64(eps)}, dst, []int{n, channels, pixels}, src, scale, bias)
		}, a)
	})
	if !*everyKernel {
		return
	}
	t.Run("unary", func(t *testing.T) { kerneltest.Unary(t, k.unary(), a) })
	t.Run("binary", func(t *testing.T) { kerneltest.Binary(t, k.binary(), a) })
	t.Run("reduce", func(t *testing.T) { kerneltest.Reduce(t, k.reduce(), a) })
	t.Run("softmax", func(t *testing.T) { kerneltest.Softmax(t, k.lines(op.Softmax{Axis: 1}), false, a) })
	t.Run("log softmax", func(t *testing.T) { kerneltest.Softmax(t, k.lines(op.LogSoftmax{Axis: 1}), true, a) })
	t.Run("layer norm", func(t *testing.T) {
		kerneltest.Norm(t, func(dst, src, scale, bias []float32, rows, n int, eps float32) {
			k.norm(op.LayerNormalization{Axis: 1, Epsilon: float64(eps)}, dst, []int{rows, n}, src, scale, bias)
		}, true, true, a)
	})
	t.Run("RMS norm", func(t *testing.T) {
		kerneltest.Norm(t, func(dst, src, scale, _ []float32, rows, n int, eps float32) {
			k.norm(op.RMSNormalization{Axis: 1, Epsilon: float64(eps)}, dst, []int{rows, n}, src, scale)
		}, false, false, a)
	})
}

func ones(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = 1
	}
	return x
}

type kernels struct {
	t *testing.T
	x Target
}

// machine compiles an operator on parameters of f32 with these shapes. A parameter without axes is a
// scalar. A nil shape stands for an operand that is absent.
func (k kernels) machine(o ir.Op, shapes ...[]dim.Dim) *exec.Machine {
	k.t.Helper()
	f := &ir.Func{Name: pass.Forward}
	b := ir.NewBuilder(f)
	err := ir.Try(func() {
		args := make([]*ir.Value, len(shapes))
		for i, s := range shapes {
			if s != nil {
				args[i] = b.Param(fmt.Sprint("x", i), ir.TensorOf(ir.F32, s...))
			}
		}
		b.Return(b.Nodes(o, args...)...)
	})
	if err != nil {
		k.t.Fatal(err)
	}
	f.ResultNames = []string{"y"}
	m, err := compile(k.x, &ir.Module{Funcs: []*ir.Func{f}}, 0)
	if err != nil {
		k.t.Fatal(err)
	}
	return m
}

// run runs a machine on slices, which have the given shapes, and copies its result to dst. It fails
// the test if the result is shorter than dst.
func (k kernels) run(m *exec.Machine, dst []float32, shapes [][]int, args ...any) {
	k.t.Helper()
	results, _, err := m.Run(context.Background(), args, shapes)
	if err != nil {
		k.t.Fatal(err)
	}
	if n := copy(dst, results[0].([]float32)); n != len(dst) {
		k.t.Fatalf("%d results, want %d", n, len(dst))
	}
}

func (k kernels) unary() map[string]func(dst, x []float32) {
	all := map[string]func(dst, x []float32){}
	for name, o := range map[string]ir.Op{
		"Neg": op.Neg{}, "Abs": op.Abs{}, "Sign": op.Sign{}, "Sqrt": op.Sqrt{}, "Reciprocal": op.Reciprocal{},
		"Floor": op.Floor{}, "Ceil": op.Ceil{}, "Round": op.Round{}, "Exp": op.Exp{}, "Log": op.Log{}, "Erf": op.Erf{},
		"Tanh": op.Tanh{}, "Sin": op.Sin{}, "Cos": op.Cos{}, "Tan": op.Tan{}, "Asin": op.Asin{}, "Acos": op.Acos{},
		"Atan": op.Atan{}, "Sinh": op.Sinh{}, "Cosh": op.Cosh{}, "Asinh": op.Asinh{}, "Acosh": op.Acosh{}, "Atanh": op.Atanh{},
		"Sigmoid": op.Sigmoid{}, "Relu": op.Relu{}, "HardSwish": op.HardSwish{}, "Mish": op.Mish{}, "Gelu": op.Gelu{},
		"GeluTanh": op.Gelu{Tanh: true}, "Softplus": op.Softplus{}, "Softsign": op.Softsign{}, "Swish(1)": op.Swish{Alpha: 1},
		"LeakyRelu(0.1)": op.LeakyRelu{Alpha: 0.1}, "Clip(-1.5, 2)": op.Clip{Lo: -1.5, Hi: 2}, "Clip(1, -1)": op.Clip{Lo: 1, Hi: -1},
		"HardSigmoid(0.2, 0.5)": op.HardSigmoid{Alpha: 0.2, Beta: 0.5}, "Elu(1)": op.Elu{Alpha: 1}, "Celu(2)": op.Celu{Alpha: 2},
		"Selu(1.6732632, 1.050701)": op.Selu{Alpha: 1.6732632, Gamma: 1.050701}, "ThresholdedRelu(0.5)": op.ThresholdedRelu{Alpha: 0.5},
		"Shrink(0.25, 0.5)": op.Shrink{Bias: 0.25, Lambda: 0.5},
	} {
		m := k.machine(o, []dim.Dim{dim.Sym("N")})
		all[name] = func(dst, x []float32) { k.run(m, dst, [][]int{{len(x)}}, x) }
	}
	return all
}

func (k kernels) binary() map[string]kerneltest.BinaryForms {
	all := map[string]kerneltest.BinaryForms{}
	for name, o := range map[string]ir.Op{
		"Add": op.Add{}, "Sub": op.Sub{}, "Mul": op.Mul{}, "Div": op.Div{}, "Min": op.Min{}, "Max": op.Max{}, "Gate": op.Gate{}, "PRelu": op.PRelu{},
	} {
		line, scalar := []dim.Dim{dim.Sym("N")}, []dim.Dim{}
		slices, second := k.machine(o, line, line), k.machine(o, line, scalar)
		forms := kerneltest.BinaryForms{
			Slices: func(dst, a, b []float32) { k.run(slices, dst, [][]int{{len(a)}, {len(b)}}, a, b) },
			Scalar: func(dst, a []float32, b float32) { k.run(second, dst, [][]int{{len(a)}, {}}, a, []float32{b}) },
		}
		if _, err := o.Infer([]ir.Type{ir.TensorOf(ir.F32), ir.TensorOf(ir.F32, line...)}); err == nil {
			first := k.machine(o, scalar, line)
			forms.First = func(dst []float32, a float32, b []float32) { k.run(first, dst, [][]int{{}, {len(b)}}, []float32{a}, b) }
		}
		all[name] = forms
	}
	return all
}

// lines returns a kernel that applies o along the middle axis of a tensor [outer, n, inner].
func (k kernels) lines(o ir.Op) func(dst, src []float32, outer, n, inner int) {
	m := k.machine(o, []dim.Dim{dim.Sym("O"), dim.Sym("N"), dim.Sym("I")})
	return func(dst, src []float32, outer, n, inner int) { k.run(m, dst, [][]int{{outer, n, inner}}, src) }
}

func (k kernels) reduce() map[string]func(dst, src []float32, outer, n, inner int) {
	all := map[string]func(dst, src []float32, outer, n, inner int){}
	for name, kind := range map[string]op.Reduction{
		"Sum": op.ReduceSum, "Mean": op.ReduceMean, "SumSquare": op.ReduceSumSquare, "L1": op.ReduceL1, "L2": op.ReduceL2,
		"LogSum": op.ReduceLogSum, "LogSumExp": op.ReduceLogSumExp, "Prod": op.ReduceProd, "Max": op.ReduceMax, "Min": op.ReduceMin,
	} {
		all[name] = k.lines(op.Reduce{Kind: kind, Axes: []int{1}})
	}
	return all
}

// norm runs a normalisation of src. `operands` are its further operands, each of one axis. A nil operand is absent.
func (k kernels) norm(o ir.Op, dst []float32, shape []int, src []float32, operands ...[]float32) {
	k.t.Helper()
	types, shapes, args := [][]dim.Dim{dim.Consts(shape...)}, [][]int{shape}, []any{src}
	for _, v := range operands {
		if v == nil {
			types = append(types, nil)
			continue
		}
		types, shapes, args = append(types, dim.Consts(len(v))), append(shapes, []int{len(v)}), append(args, v)
	}
	for len(types) > 0 && types[len(types)-1] == nil {
		types = types[:len(types)-1]
	}
	k.run(k.machine(o, types...), dst, shapes, args...)
}
