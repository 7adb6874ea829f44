//go:build (!amd64 && !arm64) || noasm

package cpu

const vnni = false

func runBytes(t *tile) { byteTileRef(t) }

func runByteWindow(t *byteWindow) { byteWindowRef(t) }

func runMaxRow(t *maxRow) { maxRowRef(t) }

func quantizeBytes([]byte, []float32, *quantum) int         { return 0 }
func dequantizeBytes([]float32, []byte, bool, *quantum) int { return 0 }

func packRowFast(_, _ []byte, _ byte) (done int, sum int32) { return 0, 0 }
func packPanels(_, _ []byte, _ []int32, _, _, _, _ int, _ byte) int {
	return 0
}

func transposeBytesFast(_, _ []byte, _, _, _, _ int, _ byte) bool { return false }
func wideBytes(_, _ int) bool                                     { return false }
