//go:build (!amd64 && !arm64) || noasm

package cpu

func runTile(t *tile) { tileRef(t) }
