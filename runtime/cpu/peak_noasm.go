//go:build (!amd64 && !arm64) || noasm

package cpu

// multiplyAdds stands for the loop that assembly has.
func multiplyAdds(int) int { return 0 }
