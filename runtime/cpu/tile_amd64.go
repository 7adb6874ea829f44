//go:build !noasm

package cpu

// runTile calls the level's tile kernel.
func runTile(t *tile) {
	switch level {
	case AVX512:
		tileAVX512(t)
	case AVX2:
		tileAVX2(t)
	default:
		tileRef(t)
	}
}
