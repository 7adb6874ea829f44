//go:build (!amd64 && !arm64) || noasm

package cpu

func runWindowRows(t *windowRows) { windowRowsRef(t) }
