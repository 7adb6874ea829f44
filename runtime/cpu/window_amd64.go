//go:build !noasm

package cpu

// runWindow calls the level's window kernel.
func runWindow(t *tile, op windowOp) {
	switch {
	case level == AVX512 && op == weightedSum:
		depthwiseAVX512(t)
	case level == AVX512 && op == scaledSum:
		windowSumAVX512(t)
	case level == AVX512:
		windowMaxAVX512(t)
	case level == AVX2 && op == weightedSum:
		depthwiseAVX2(t)
	case level == AVX2 && op == scaledSum:
		windowSumAVX2(t)
	case level == AVX2:
		windowMaxAVX2(t)
	default:
		windowRef(t, op)
	}
}
