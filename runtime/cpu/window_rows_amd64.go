//go:build !noasm

package cpu

// runWindowRows calls the level's kernel of rows of windows, which may change t.
func runWindowRows(t *windowRows) {
	switch level {
	case AVX512:
		windowRowsAVX512(t)
	case AVX2:
		windowRowsAVX2(t)
	default:
		windowRowsRef(t)
	}
}
