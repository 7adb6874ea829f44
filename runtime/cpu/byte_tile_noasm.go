//go:build (!amd64 && !arm64) || noasm

package cpu

const vnni = false

func runBytes(t *tile) { byteTileRef(t) }

func runByteWindow(t *byteWindow) { byteWindowRef(t) }

func runMaxRow(t *maxRow) { maxRowRef(t) }
