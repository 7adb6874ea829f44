//go:build (amd64 || arm64) && !noasm

package cpu

import "unsafe"

// transposeSquares does the squares of 8×8 and returns how many rows and columns they make up.
func transposeSquares(dst, src []float32, rows, columns, ldd, lds int) (r, c int) {
	if level == Generic {
		return 0, 0
	}
	r, c = rows&^7, columns&^7
	to, from := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(src))
	// The kernel goes the longer way.
	if r > c {
		for j := 0; j < c; j += 8 {
			for i := 0; i < r; i += squaresPerCall * 8 {
				transposeSquare(unsafe.Add(to, 4*(j*ldd+i)), unsafe.Add(from, 4*(i*lds+j)), 4*ldd, 4*lds, 32, 32*lds, min(squaresPerCall, (r-i)/8))
			}
		}
		return r, c
	}
	for i := 0; i < r; i += 8 {
		for j := 0; j < c; j += squaresPerCall * 8 {
			transposeSquare(unsafe.Add(to, 4*(j*ldd+i)), unsafe.Add(from, 4*(i*lds+j)), 4*ldd, 4*lds, 32*ldd, 32, min(squaresPerCall, (c-j)/8))
		}
	}
	return r, c
}

// squaresPerCall bounds the time of one call.
const squaresPerCall = 4096
