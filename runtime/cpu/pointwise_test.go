package cpu_test

import (
	"testing"

	"github.com/burngen/burngen/runtime/cpu"
	"github.com/burngen/burngen/runtime/kerneltest"
)

type slice = []float32

// exact is the accuracy of processors.
var exact = kerneltest.Accuracy{}

var unaries = map[string]func(dst, x []float32){
	"Neg": cpu.Neg[float32], "Abs": cpu.Abs[float32], "Sign": cpu.Sign[float32],
	"Sqrt": cpu.Sqrt[float32], "Reciprocal": cpu.Reciprocal[float32],
	"Floor": cpu.Floor[float32], "Ceil": cpu.Ceil[float32], "Round": cpu.Round[float32],
	"Exp": cpu.Exp[float32], "Log": cpu.Log[float32], "Erf": cpu.Erf[float32], "Tanh": cpu.Tanh[float32],
	"Sin": cpu.Sin[float32], "Cos": cpu.Cos[float32], "Tan": cpu.Tan[float32],
	"Asin": cpu.Asin[float32], "Acos": cpu.Acos[float32], "Atan": cpu.Atan[float32],
	"Sinh": cpu.Sinh[float32], "Cosh": cpu.Cosh[float32],
	"Asinh": cpu.Asinh[float32], "Acosh": cpu.Acosh[float32], "Atanh": cpu.Atanh[float32],
	"Sigmoid": cpu.Sigmoid[float32], "Relu": cpu.Relu[float32], "HardSwish": cpu.HardSwish[float32],
	"Mish": cpu.Mish[float32], "Gelu": cpu.Gelu[float32], "GeluTanh": cpu.GeluTanh[float32],
	"Softplus": cpu.Softplus[float32], "Softsign": cpu.Softsign[float32],

	"Swish(1)":                  func(dst, x slice) { cpu.Swish(dst, x, 1) },
	"LeakyRelu(0.1)":            func(dst, x slice) { cpu.LeakyRelu(dst, x, 0.1) },
	"Clip(-1.5, 2)":             func(dst, x slice) { cpu.Clip(dst, x, -1.5, 2) },
	"Clip(1, -1)":               func(dst, x slice) { cpu.Clip(dst, x, 1, -1) },
	"HardSigmoid(0.2, 0.5)":     func(dst, x slice) { cpu.HardSigmoid(dst, x, 0.2, 0.5) },
	"Elu(1)":                    func(dst, x slice) { cpu.Elu(dst, x, 1) },
	"Selu(1.6732632, 1.050701)": func(dst, x slice) { cpu.Selu(dst, x, 1.6732632, 1.050701) },
	"Celu(2)":                   func(dst, x slice) { cpu.Celu(dst, x, 2) },
	"ThresholdedRelu(0.5)":      func(dst, x slice) { cpu.ThresholdedRelu(dst, x, 0.5) },
	"Shrink(0.25, 0.5)":         func(dst, x slice) { cpu.Shrink(dst, x, 0.25, 0.5) },
}

func TestUnary(t *testing.T) {
	atEachLevel(t, func(t *testing.T) { kerneltest.Unary(t, unaries, exact) })
}

var binaries = map[string]kerneltest.BinaryForms{
	"Add":   {Slices: cpu.Add[float32], Scalar: cpu.AddScalar[float32]},
	"Sub":   {Slices: cpu.Sub[float32], Scalar: cpu.SubScalar[float32], First: cpu.ScalarSub[float32]},
	"Mul":   {Slices: cpu.Mul[float32], Scalar: cpu.MulScalar[float32]},
	"Div":   {Slices: cpu.Div[float32], Scalar: cpu.DivScalar[float32], First: cpu.ScalarDiv[float32]},
	"Min":   {Slices: cpu.Min[float32], Scalar: cpu.MinScalar[float32]},
	"Max":   {Slices: cpu.Max[float32], Scalar: cpu.MaxScalar[float32]},
	"Gate":  {Slices: cpu.Gate[float32]},
	"PRelu": {Slices: cpu.PRelu[float32], Scalar: cpu.PReluScalar[float32]},
}

func TestBinary(t *testing.T) {
	atEachLevel(t, func(t *testing.T) { kerneltest.Binary(t, binaries, exact) })
}

// The two instruction sets do the same operations in the same order.
func TestAssemblyAgrees(t *testing.T) {
	x := make([]float32, 1000)
	for i := range x {
		x[i] = float32(i-500) / 20
	}
	var want map[string][]float32
	for _, l := range cpu.Levels() {
		if l == cpu.Generic {
			continue
		}
		restore := cpu.SetLevel(l)
		got := map[string][]float32{}
		for name, f := range unaries {
			got[name] = make([]float32, len(x))
			f(got[name], x)
		}
		restore()
		for name, w := range want {
			kerneltest.SameBits(t, name, got[name], w)
		}
		want = got
	}
}
