//go:build (!amd64 && !arm64) || noasm

package cpu

func runWindow(t *tile, op windowOp) { windowRef(t, op) }
