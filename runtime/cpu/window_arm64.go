//go:build !noasm

package cpu

// runWindow calls the level's window kernel.
func runWindow(t *tile, op windowOp) {
	switch {
	case level != NEON:
		windowRef(t, op)
	case op == weightedSum:
		depthwiseNEON(t)
	case op == scaledSum:
		windowSumNEON(t)
	default:
		windowMaxNEON(t)
	}
}
