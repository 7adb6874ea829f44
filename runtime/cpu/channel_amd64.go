//go:build !noasm

package cpu

func channelSums(sums *[32]float32, g, x []float32, mean *[16]float32) {
	switch level {
	case AVX512:
		channelSumsAVX512(&sums[0], &g[0], &x[0], &mean[0], len(g)/16)
	case AVX2:
		channelSumsAVX2(&sums[0], &g[0], &x[0], &mean[0], len(g)/16)
	default:
		channelSumsRef(sums, g, x, mean)
	}
}

func channelSquares(sums *[16]float32, x []float32, mean *[16]float32) {
	switch level {
	case AVX512:
		channelSquaresAVX512(&sums[0], &x[0], &mean[0], len(x)/16)
	case AVX2:
		channelSquaresAVX2(&sums[0], &x[0], &mean[0], len(x)/16)
	default:
		channelSquaresRef(sums, x, mean)
	}
}

func channelMix(dst, g, x []float32, factors *[48]float32) {
	switch level {
	case AVX512:
		channelMixAVX512(&dst[0], &g[0], &x[0], &factors[0], len(dst)/16)
	case AVX2:
		channelMixAVX2(&dst[0], &g[0], &x[0], &factors[0], len(dst)/16)
	default:
		channelMixRef(dst, g, x, factors)
	}
}
