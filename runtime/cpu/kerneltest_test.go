package cpu_test

import (
	"github.com/burngen/burngen/runtime/cpu"
	"github.com/burngen/burngen/runtime/kerneltest"
)

// The kernels as package kerneltest wants them. Its shapes have the fields of this package's: Go
// converts them.

// epilogueOf returns the epilogue of a test.
func epilogueOf(ep *kerneltest.Epilogue) *cpu.Epilogue {
	if ep == nil {
		return nil
	}
	return &cpu.Epilogue{Bias: ep.Bias, Residual: ep.Residual, Clamp: ep.Clamp, Lo: ep.Lo, Hi: ep.Hi, Then: ep.Then, In: ep.In}
}

// matrixProduct returns a product of matrices for tests.
func matrixProduct[W kerneltest.Weight](mul func(dst, a []float32, panels []W, s *cpu.MatMulShape, ep *cpu.Epilogue)) kerneltest.MatMulKernel[W] {
	return kerneltest.MatMulKernel[W]{
		Multiply: func(dst, a []float32, panels []W, s *kerneltest.MatMulShape, ep *kerneltest.Epilogue) {
			mul(dst, a, panels, (*cpu.MatMulShape)(s), epilogueOf(ep))
		},
		PanelsLen: cpu.PanelsLen, Pack: cpu.PackPanels,
	}
}

// convolution returns a convolution for tests.
func convolution(
	conv func(dst, src, weights []float32, s *cpu.ConvShape, ep *cpu.Epilogue),
	weightsLen func(s *cpu.ConvShape) int,
	pack func(dst, w []float32, s *cpu.ConvShape),
) kerneltest.ConvKernel {
	return kerneltest.ConvKernel{
		Convolve: func(dst, src, weights []float32, s *kerneltest.ConvShape, ep *kerneltest.Epilogue) {
			conv(dst, src, weights, (*cpu.ConvShape)(s), epilogueOf(ep))
		},
		WeightsLen: func(s *kerneltest.ConvShape) int { return weightsLen((*cpu.ConvShape)(s)) },
		Pack:       func(dst, w []float32, s *kerneltest.ConvShape) { pack(dst, w, (*cpu.ConvShape)(s)) },
	}
}

var (
	conv      = convolution(cpu.Conv, cpu.ConvWeightsLen, cpu.PackConv)
	depthwise = convolution(cpu.DepthwiseConv, cpu.DepthwiseWeightsLen, cpu.PackDepthwise)
	// depthwisePlanar has weights that are not packed.
	depthwisePlanar = convolution(cpu.DepthwisePlanar,
		func(s *cpu.ConvShape) int { return s.OutC * s.KH * s.KW },
		func(dst, w []float32, _ *cpu.ConvShape) { copy(dst, w) })

	winograd = kerneltest.WinogradKernel{
		Convolve: func(dst, src, weights, scratch []float32, s *kerneltest.WinogradShape, ep *kerneltest.Epilogue) {
			cpu.Winograd(dst, src, weights, scratch, (*cpu.WinogradShape)(s), epilogueOf(ep))
		},
		WeightsLen: func(s *kerneltest.WinogradShape) int { return cpu.WinogradWeightsLen((*cpu.WinogradShape)(s)) },
		Pack:       func(dst, w []float32, s *kerneltest.WinogradShape) { cpu.PackWinograd(dst, w, (*cpu.WinogradShape)(s)) },
		Scratch: func(s *kerneltest.WinogradShape, workers, tiles int) int {
			return cpu.WinogradScratch((*cpu.WinogradShape)(s), workers, tiles)
		},
	}

	attention = kerneltest.AttentionKernel{
		Attend: func(dst, q, k, v, scratch []float32, s *kerneltest.AttentionShape, mask *kerneltest.AttentionMask) {
			cpu.Attention(dst, q, k, v, scratch, (*cpu.AttentionShape)(s), (*cpu.AttentionMask)(mask))
		},
		Scratch: cpu.AttentionScratch,
	}

	updates = kerneltest.Updates{
		SGD: func(w, g, m []float32, rates *kerneltest.SGDRates) { cpu.SGD(w, g, m, (*cpu.SGDRates)(rates)) },
		Adam: func(w, g, m, v, most []float32, rates *kerneltest.AdamRates) {
			cpu.Adam(w, g, m, v, most, (*cpu.AdamRates)(rates))
		},
		AdaGrad: func(w, g, v []float32, rates *kerneltest.AdaGradRates) {
			cpu.AdaGrad(w, g, v, (*cpu.AdaGradRates)(rates))
		},
		RMSProp: func(w, g, v, mean, m []float32, rates *kerneltest.RMSPropRates) {
			cpu.RMSProp(w, g, v, mean, m, (*cpu.RMSPropRates)(rates))
		},
		Adan: func(w, g, last, m, d, v []float32, rates *kerneltest.AdanRates) {
			cpu.Adan(w, g, last, m, d, v, (*cpu.AdanRates)(rates))
		},
		Lion: func(w, g, m []float32, rates *kerneltest.LionRates) { cpu.Lion(w, g, m, (*cpu.LionRates)(rates)) },
	}
)

// pool returns a pool for tests.
func pool(f func(dst, src []float32, s *cpu.PoolShape)) kerneltest.PoolFunc {
	return func(dst, src []float32, s *kerneltest.PoolShape) { f(dst, src, (*cpu.PoolShape)(s)) }
}
