//go:build !noasm

package cpu

// multiplyAdds runs the loop of MultiplyAdds and returns its steps × lanes.
func multiplyAdds(n int) int {
	switch level {
	case AVX512:
		fmaAVX512(n)
		return 16 * n
	case AVX2:
		fmaAVX2(n)
		return 8 * n
	}
	return 0
}
