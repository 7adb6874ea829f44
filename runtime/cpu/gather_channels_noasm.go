//go:build !amd64 || noasm

package cpu

func moveLanes(dst, src []float32, from, used *[16]int32) { moveLanesRef(dst, src, from, used) }

func moveBytes(dst, src []uint8, from *[16]uint8) { moveBytesRef(dst, src, from) }
