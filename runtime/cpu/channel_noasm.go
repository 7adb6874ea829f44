//go:build (!amd64 && !arm64) || noasm

package cpu

func channelSums(sums *[32]float32, g, x []float32, mean *[16]float32) {
	channelSumsRef(sums, g, x, mean)
}

func channelSquares(sums *[16]float32, x []float32, mean *[16]float32) {
	channelSquaresRef(sums, x, mean)
}

func channelMix(dst, g, x []float32, factors *[48]float32) {
	channelMixRef(dst, g, x, factors)
}
