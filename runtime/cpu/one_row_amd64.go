//go:build !noasm

package cpu

// runOneRow calls the level's kernel of one row.
func runOneRow(t *oneRow) {
	switch level {
	case AVX512:
		switch t.kind.format {
		case weightF32:
			oneRowFloat32AVX512(t)
		case weightF16:
			oneRowFloat16AVX512(t)
		case weightBF16:
			oneRowBFloat16AVX512(t)
		}
	case AVX2:
		switch t.kind.format {
		case weightF32:
			oneRowFloat32AVX2(t)
		case weightF16:
			oneRowFloat16AVX2(t)
		case weightBF16:
			oneRowBFloat16AVX2(t)
		}
	default:
		oneRowRef(t)
	}
}
