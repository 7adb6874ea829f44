//go:build !noasm

package cpu

// runTile calls the level's tile kernel.
func runTile(t *tile) {
	if level == NEON {
		tileNEON(t)
	} else {
		tileRef(t)
	}
}
