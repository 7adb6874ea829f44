//go:build !noasm

package cpu

// multiplyAdds runs the loop of MultiplyAdds and returns its steps × lanes.
func multiplyAdds(n int) int {
	if level != NEON {
		return 0
	}
	fmaNEON(n)
	return 4 * n
}
