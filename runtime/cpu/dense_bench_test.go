package cpu

import (
	"fmt"
	"testing"
	"time"

	"github.com/burngen/burngen/runtime/rt"
)

// random fills a new slice with numbers in −1…1 from a fixed sequence.
func random(n int, seed uint32) []float32 {
	s := make([]float32, n)
	for i := range s {
		seed = seed*1664525 + 1013904223
		s[i] = float32(int32(seed)) / (1 << 31)
	}
	return s
}

// peak returns the operations per nanosecond of one core at the current level, the best of a few
// tries.
func peak() float64 {
	best := 0.0
	for range 10 {
		start := time.Now()
		flops := float64(MultiplyAdds(100_000))
		best = max(best, flops/float64(time.Since(start)))
	}
	return best
}

// eachLevel benchmarks body at every level of the machine. flops is the number of operations of
// body. It reports their rate, and the share of the core's peak, which is measured just before.
func eachLevel(b *testing.B, flops float64, body func()) {
	for _, l := range Levels() {
		b.Run(l.String(), func(b *testing.B) {
			defer SetLevel(l)()
			most := peak()
			for b.Loop() {
				body()
			}
			rate := flops * float64(b.N) / float64(b.Elapsed())
			b.ReportMetric(rate, "GFLOP/s")
			if most > 0 {
				b.ReportMetric(100*rate/most, "%peak")
			}
		})
	}
}

func BenchmarkPeak(b *testing.B) {
	for _, l := range Levels() {
		b.Run(l.String(), func(b *testing.B) {
			defer SetLevel(l)()
			flops := 0.0
			for b.Loop() {
				flops += float64(MultiplyAdds(100_000))
			}
			b.ReportMetric(flops/float64(b.Elapsed()), "GFLOP/s")
		})
	}
}

func BenchmarkMatMul(b *testing.B) {
	for _, size := range [][3]int{
		{64, 64, 64}, {256, 256, 256}, {512, 512, 512}, {1024, 1024, 1024},
		{128, 768, 768}, {128, 3072, 768}, {128, 768, 3072}, {16, 768, 768},
		{1, 64, 64}, {1, 256, 256}, {1, 768, 768}, {1, 4096, 4096}, {4, 768, 768},
	} {
		s := &MatMulShape{M: size[0], N: size[2], K: size[1], LDA: size[1], LDC: size[2], Batch: 1}
		a, w := random(s.M*s.K, 1), random(s.K*s.N, 2)
		panels, dst := make([]float32, PanelsLen(s.K, s.N)), make([]float32, s.M*s.N)
		PackPanels(panels, w, s.K, s.N, s.N, false, 1, 0)
		b.Run(fmt.Sprintf("%dx%dx%d", s.M, s.K, s.N), func(b *testing.B) {
			eachLevel(b, 2*float64(s.M)*float64(s.N)*float64(s.K), func() { MatMul(dst, a, panels, s, nil) })
		})
	}
}

// Products of one row read their weights from memory, so that reading determines their rate.
func BenchmarkFarWeights(b *testing.B) {
	const sets = 24
	s := &MatMulShape{M: 1, N: 3072, K: 768, LDA: 768, LDC: 3072, Batch: 1}
	each := PanelsLen(s.K, s.N)
	a, weights, dst := random(s.K, 1), random(sets*each, 2), make([]float32, s.N)
	half := make([]rt.Float16, len(weights))
	Cast(half, weights)
	upper := make([]rt.BFloat16, len(weights))
	Cast(upper, weights)
	rate := func(b *testing.B, name string, bytes int, body func(i int)) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				for i := range sets {
					body(i)
				}
			}
			b.ReportMetric(float64(bytes*sets*each)*float64(b.N)/float64(b.Elapsed()), "GB/s")
		})
	}
	for _, l := range Levels() {
		b.Run(l.String(), func(b *testing.B) {
			defer SetLevel(l)()
			rate(b, "read", 4, func(i int) { ReduceSum(dst[:1], weights[i*each:][:each], 1, each, 1) })
			rate(b, "f32", 4, func(i int) { MatMul(dst, a, weights[i*each:][:each], s, nil) })
			rate(b, "f16", 2, func(i int) { MatMulNarrow(dst, a, half[i*each:][:each], s, nil) })
			rate(b, "bf16", 2, func(i int) { MatMulNarrow(dst, a, upper[i*each:][:each], s, nil) })
		})
	}
}

func BenchmarkConv(b *testing.B) {
	for _, s := range []ConvShape{
		// ResNet-50
		square(3, 230, 1, 64, 7, 2),
		square(64, 58, 16, 64, 3, 1), square(128, 30, 16, 128, 3, 1), square(256, 16, 16, 256, 3, 1), square(512, 9, 16, 512, 3, 1),
		square(128, 57, 16, 128, 3, 2), square(256, 55, 16, 512, 1, 2),
		square(64, 56, 16, 256, 1, 1), square(256, 56, 16, 64, 1, 1), square(512, 28, 16, 128, 1, 1),
		square(1024, 14, 16, 256, 1, 1), square(2048, 7, 16, 512, 1, 1),
		// SqueezeNet
		square(3, 227, 1, 64, 3, 2),
		square(64, 55, 16, 16, 1, 1), square(16, 55, 16, 64, 1, 1), square(16, 57, 16, 64, 3, 1), square(32, 29, 16, 128, 3, 1),
		square(48, 15, 16, 192, 3, 1), square(64, 15, 16, 256, 3, 1), square(512, 13, 16, 1000, 1, 1),
		// digits
		square(1, 32, 1, 8, 5, 1), square(8, 18, 16, 16, 5, 1),
	} {
		src, w := random(s.inBlocks()*s.InH*s.InW*s.InBlock, 1), random(ConvWeightsLen(&s), 2)
		dst := make([]float32, s.outBlocks()*s.OutH*s.OutW*16)
		ep := &Epilogue{Bias: random(s.outBlocks()*16, 3), Clamp: true, Hi: 1e30}
		b.Run(fmt.Sprintf("%dx%d stride %d %d to %d at %d", s.KH, s.KW, s.StrideH, s.InC, s.OutC, s.OutH), func(b *testing.B) {
			eachLevel(b, 2*float64(s.OutH*s.OutW*s.OutC*s.InC*s.KH*s.KW), func() { Conv(dst, src, w, &s, ep) })
		})
	}
}

func BenchmarkDepthwiseConv(b *testing.B) {
	for _, s := range []ConvShape{
		square(32, 114, 16, 32, 3, 1), square(96, 113, 16, 96, 3, 2), square(128, 58, 16, 128, 3, 1), square(512, 16, 16, 512, 3, 1), square(144, 60, 16, 144, 5, 1),
	} {
		s.Group = s.InC
		src, w := random(s.inBlocks()*s.InH*s.InW*16, 1), random(DepthwiseWeightsLen(&s), 2)
		dst := make([]float32, s.outBlocks()*s.OutH*s.OutW*16)
		b.Run(fmt.Sprintf("%dx%d stride %d %d at %d", s.KH, s.KW, s.StrideH, s.OutC, s.OutH), func(b *testing.B) {
			eachLevel(b, 2*float64(s.OutH*s.OutW*s.OutC*s.KH*s.KW), func() { DepthwiseConv(dst, src, w, &s, nil) })
		})
	}
}

// square returns a convolution of a square image of the given size, including padding.
func square(inC, in, block, outC, kernel, stride int) ConvShape {
	out := (in-kernel)/stride + 1
	return ConvShape{
		N: 1, InC: inC, InH: in, InW: in, InBlock: block, OutC: outC, OutH: out, OutW: out,
		KH: kernel, KW: kernel, StrideH: stride, StrideW: stride, DilH: 1, DilW: 1, Group: 1,
	}
}
