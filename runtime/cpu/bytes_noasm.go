//go:build (!amd64 && !arm64) || noasm

package cpu

const vnni = false

func runBytes(t *tile) { byteTileRef(t) }

func runByteWindow(t *byteWindow) { byteWindowRef(t) }

func runMaxRow(t *maxRow) { maxRowRef(t) }

func quantizeBytes([]byte, []float32, *quantum) int         { return 0 }
func dequantizeBytes([]float32, []byte, bool, *quantum) int { return 0 }
