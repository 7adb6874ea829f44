package cpu

// moveLanesRef computes dst[i][j] = src[i][from[j]] for pixels i of 16 channels. It does so only
// for the channels j for which used[j] is −1.
func moveLanesRef(dst, src []float32, from, used *[16]int32) {
	for ; len(dst) >= 16; dst, src = dst[16:], src[16:] {
		for j, lane := range from {
			if used[j] != 0 {
				dst[j] = src[lane&15]
			}
		}
	}
}

// noLane marks a byte without source.
const noLane = 128

// moveBytesRef computes dst[i][j] = src[i][from[j]] for pixels i of 16 channels. It does so only
// for the channels j for which from[j] is not noLane.
func moveBytesRef(dst, src []uint8, from *[16]uint8) {
	for ; len(dst) >= 16; dst, src = dst[16:], src[16:] {
		for j, lane := range from {
			if lane != noLane {
				dst[j] = src[lane&15]
			}
		}
	}
}
