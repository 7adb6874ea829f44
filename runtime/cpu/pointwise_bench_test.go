package cpu_test

import (
	"testing"

	"github.com/burngen/burngen/runtime/cpu"
)

// BenchmarkPointwise runs kernels on operands that fit the first-level cache, at every level.
func BenchmarkPointwise(b *testing.B) {
	const n = 4096
	x, y, z := make([]float32, n), make([]float32, n), make([]float32, n)
	for i := range x {
		x[i] = float32(i%200)/20 - 5
		y[i] = float32(i)
	}
	for _, c := range []struct {
		name string
		run  func()
	}{
		{"Add", func() { cpu.Add(z, x, y) }},
		{"MulScalar", func() { cpu.MulScalar(z, x, 3) }},
		{"Max", func() { cpu.Max(z, x, y) }},
		{"Exp", func() { cpu.Exp(z, x) }},
		{"Log", func() { cpu.Log(z, y) }},
		{"Tanh", func() { cpu.Tanh(z, x) }},
		{"Sigmoid", func() { cpu.Sigmoid(z, x) }},
		{"Erf", func() { cpu.Erf(z, x) }},
		{"Gelu", func() { cpu.Gelu(z, x) }},
		{"GeluTanh", func() { cpu.GeluTanh(z, x) }},
		{"Mish", func() { cpu.Mish(z, x) }},
		{"Softmax/rows_of_128", func() { cpu.Softmax(z, x, 32, 128, 1) }},
		{"Softmax/columns", func() { cpu.Softmax(z, x, 1, 64, 64) }},
		{"LayerNorm/rows_of_1024", func() { cpu.LayerNorm(z, x, y, y, 4, 1024, 1e-5) }},
		{"ReduceSum/rows", func() { cpu.ReduceSum(z[:4], x, 4, 1024, 1) }},
		{"ReduceSum/columns", func() { cpu.ReduceSum(z[:64], x, 1, 64, 64) }},
		{"ReduceMax/rows", func() { cpu.ReduceMax(z[:4], x, 4, 1024, 1) }},
		{"Transpose", func() { cpu.StridedCopy(z, x, []int{64, 64}, []int{1, 64}, 0) }},
	} {
		for _, l := range cpu.Levels() {
			b.Run(c.name+"/"+l.String(), func(b *testing.B) {
				defer cpu.SetLevel(l)()
				for b.Loop() {
					c.run()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/element")
			})
		}
	}
}
