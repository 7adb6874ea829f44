package cpu

import "testing"

func BenchmarkDev(b *testing.B) {
	const n = 4096
	x, y, z := make([]float32, n), make([]float32, n), make([]float32, n)
	for i := range x {
		x[i] = float32(i%200)/20 - 5
		y[i] = float32(i)
	}
	for _, c := range []struct {
		name string
		f    func()
	}{
		{"add", func() { Add(z, x, y) }},
		{"mulScalar", func() { MulScalar(z, x, 3) }},
		{"max", func() { Max(z, x, y) }},
		{"exp", func() { Exp(z, x) }},
		{"log", func() { Log(z, y) }},
		{"tanh", func() { Tanh(z, x) }},
		{"erf", func() { Erf(z, x) }},
		{"gelu", func() { Gelu(z, x) }},
		{"geluTanh", func() { GeluTanh(z, x) }},
		{"sigmoid", func() { Sigmoid(z, x) }},
		{"mish", func() { Mish(z, x) }},
		{"softmax", func() { Softmax(z, x, 32, 128, 1) }},
		{"layernorm", func() { LayerNorm(z, x, nil, nil, 4, 1024, 1e-5) }},
		{"layernorm768", func() { LayerNorm(z, x, y, y, 5, 768, 1e-5) }},
		{"sum", func() { ReduceSum(z, x, 1, 4096, 1) }},
		{"sum inner 64", func() { ReduceSum(z, x, 1, 64, 64) }},
		{"max inner 1", func() { ReduceMax(z, x, 1, 4096, 1) }},
	} {
		for _, l := range Levels() {
			b.Run(c.name+"/"+l.String(), func(b *testing.B) {
				defer SetLevel(l)()
				for b.Loop() {
					c.f()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/elem")
			})
		}
	}
}
