//go:build !noasm

package cpu

// multiplyAdds runs n times twelve multiply-adds of a register's width and returns how
// many operations on numbers they are.
func multiplyAdds(n int) float64 {
	lanes := 0
	switch level {
	case AVX512:
		fmaAVX512(n)
		lanes = 16
	case AVX2:
		fmaAVX2(n)
		lanes = 8
	}
	return float64(2 * 12 * n * lanes)
}
