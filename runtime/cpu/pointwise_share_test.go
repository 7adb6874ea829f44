package cpu_test

import (
	"maps"
	"testing"

	"github.com/burngen/burngen/runtime/cpu"
	"github.com/burngen/burngen/runtime/kerneltest"
	"github.com/burngen/burngen/runtime/rt"
)

// Shared work gives the results of one worker.
func TestSharedSlices(t *testing.T) {
	x, y := make([]float32, 100_003), make([]float32, 100_003)
	cond := make([]bool, len(x))
	for i := range x {
		x[i], y[i], cond[i] = float32(i%977)/31-15, float32(i%503)/17-14, i%3 == 0
	}
	for name, f := range map[string]func(dst []float32){
		"Mul":         func(dst []float32) { cpu.Mul(dst, x, y) },
		"Sin":         func(dst []float32) { cpu.Sin(dst, x) },
		"Cos":         func(dst []float32) { cpu.Cos(dst, x) },
		"Tan":         func(dst []float32) { cpu.Tan(dst, x) },
		"Exp":         func(dst []float32) { cpu.Exp(dst, x) },
		"Clip":        func(dst []float32) { cpu.Clip(dst, x, -3, 4) },
		"Pow":         func(dst []float32) { cpu.Pow(dst, x, y) },
		"PowScalar":   func(dst []float32) { cpu.PowScalar(dst, x, 2.5) },
		"ScalarPow":   func(dst []float32) { cpu.ScalarPow(dst, 2.5, x) },
		"Where":       func(dst []float32) { cpu.Where(dst, cond, x, y) },
		"WhereScalar": func(dst []float32) { cpu.WhereScalarY(dst, cond, x, 5) },
		"Cast":        func(dst []float32) { cpu.CastFromBool(dst, cond) },
	} {
		want, got := make([]float32, len(x)), make([]float32, len(x))
		f(want)
		sharedOut(t, name, func() { f(got) })
		kerneltest.SameBits(t, name, got, want)
	}
}

// Every pointwise kernel gives each worker the right part of each operand.
func TestSharedPointwise(t *testing.T) {
	x, y := make([]float32, 70_001), make([]float32, 70_001)
	for i := range x {
		x[i], y[i] = float32(i%977)/31-15, float32(i%503)/17-14
	}
	kernels := maps.Clone(unaries)
	for name, forms := range binaries {
		kernels[name] = func(dst, x slice) { forms.Slices(dst, x, y) }
		if forms.Scalar != nil {
			kernels[name+", a scalar"] = func(dst, x slice) { forms.Scalar(dst, x, 1.75) }
		}
		if forms.First != nil {
			kernels[name+" of a scalar"] = func(dst, x slice) { forms.First(dst, 1.75, x) }
		}
	}
	for name, f := range kernels {
		want, got := make([]float32, len(x)), make([]float32, len(x))
		// Parts of a few elements are not shared.
		for from := 0; from < len(x); from += 64 {
			to := min(from+64, len(x))
			if forms, ok := binaries[name]; ok {
				forms.Slices(want[from:to], x[from:to], y[from:to])
			} else {
				f(want[from:to], x[from:to])
			}
		}
		sharedOut(t, name, func() { f(got, x) })
		kerneltest.SameBits(t, name, got, want)
	}
}

// sharedOut runs a kernel among workers, and fails the test if it allocates.
func sharedOut(t *testing.T, name string, f func()) {
	t.Helper()
	defer rt.Threads(rt.Threads(4))
	rt.Begin()
	defer rt.End()
	for range 5 {
		f()
	}
	if n := testing.AllocsPerRun(5, f); n != 0 {
		t.Errorf("%s: %v allocations", name, n)
	}
}
