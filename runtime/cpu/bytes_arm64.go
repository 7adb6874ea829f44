//go:build !noasm

package cpu

const vnni = false

// runBytes calls the level's kernel for tiles of bytes.
func runBytes(t *tile) {
	if level == NEON {
		byteTileNEON(t)
	} else {
		byteTileRef(t)
	}
}

// runByteWindow calls the level's kernel for windows over bytes.
func runByteWindow(t *byteWindow) {
	if level == NEON && t.cell == 16 {
		byteWindowNEON(t)
	} else {
		byteWindowRef(t)
	}
}

// runMaxRow calls the level's kernel for pools of bytes.
func runMaxRow(t *maxRow) {
	if level == NEON {
		maxRowNEON(t)
	} else {
		maxRowRef(t)
	}
}

// quantizeBytes and dequantizeBytes leave all elements to plain Go.
func quantizeBytes([]byte, []float32, *quantum) int         { return 0 }
func dequantizeBytes([]float32, []byte, bool, *quantum) int { return 0 }

// packRowFast, packPanels and transposeBytesFast leave all to plain Go.
func packRowFast(_, _ []byte, _ byte) (done int, sum int32) { return 0, 0 }
func packPanels(_, _ []byte, _ []int32, _, _, _, _ int, _ byte) int {
	return 0
}

func transposeBytesFast(_, _ []byte, _, _, _, _ int, _ byte) bool { return false }
func wideBytes(_, _ int) bool                                     { return false }
