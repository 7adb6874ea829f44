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

// runByteWindow calls the level's kernel for windows over bytes.
func runByteWindow(t *byteWindow) {
	switch {
	case level < AVX2 || t.cell != 16:
		byteWindowRef(t)
	case level == AVX512 && vnni:
		byteWindowVNNI(t)
	default:
		byteWindowAVX2(t)
	}
}

// runMaxRow calls the level's kernel for pools of bytes.
func runMaxRow(t *maxRow) {
	if level >= AVX2 {
		maxRowAVX2(t)
	} else {
		maxRowRef(t)
	}
}
