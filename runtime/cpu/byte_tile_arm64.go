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

func runByteWindow(t *byteWindow) { byteWindowRef(t) }

// runMaxRow calls the level's kernel for pools of bytes.
func runMaxRow(t *maxRow) {
	if level == NEON {
		maxRowNEON(t)
	} else {
		maxRowRef(t)
	}
}
