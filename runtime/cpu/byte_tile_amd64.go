//go:build !noasm

package cpu

import "golang.org/x/sys/cpu"

// vnni tells whether there are the instructions that AVX-512 has for sums of products
// of bytes.
var vnni = cpu.X86.HasAVX512VNNI

// runBytes calls the level's kernel for tiles of bytes.
func runBytes(t *tile) {
	switch {
	case level == AVX512 && vnni:
		byteTileVNNI(t)
	case level >= AVX2:
		byteTileAVX2(t)
	default:
		byteTileRef(t)
	}
}
