//go:build !noasm

package cpu

// runWindowRows calls the level's kernel of rows of windows, which may change t.
func runWindowRows(t *windowRows) {
	if level == NEON {
		windowRowsNEON(t)
	} else {
		windowRowsRef(t)
	}
}
