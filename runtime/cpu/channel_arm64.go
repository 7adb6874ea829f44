//go:build !noasm

package cpu

func channelSums(sums *[32]float32, g, x []float32, mean *[16]float32) {
	if level == NEON {
		channelSumsNEON(&sums[0], &g[0], &x[0], &mean[0], len(g)/16)
	} else {
		channelSumsRef(sums, g, x, mean)
	}
}

func channelSquares(sums *[16]float32, x []float32, mean *[16]float32) {
	if level == NEON {
		channelSquaresNEON(&sums[0], &x[0], &mean[0], len(x)/16)
	} else {
		channelSquaresRef(sums, x, mean)
	}
}

func channelMix(dst, g, x []float32, factors *[48]float32) {
	if level == NEON {
		channelMixNEON(&dst[0], &g[0], &x[0], &factors[0], len(dst)/16)
	} else {
		channelMixRef(dst, g, x, factors)
	}
}
