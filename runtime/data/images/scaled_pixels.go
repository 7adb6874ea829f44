package images

import "github.com/burngen/burngen/runtime/cpu"

// scaledPixels scales a raster of bytes of 4 channels. It first scales rows, and then columns. x and y are the windows. wy
// are the weights of y in fixed point. `rows` has the memory for as many scaled rows as a window of y has.
func scaledPixels(dst, src raster[uint8], x *cpu.PixelWindows, y *windows, wy []int32, rows []uint8) {
	length := 4 * dst.width
	most := len(rows) / length
	begin, next := 0, 0
	for v, end := range y.end {
		first, weights := y.first[v], wy[begin:end]
		begin = end
		for ; next < first+len(weights); next++ {
			cpu.ScalePixels(rows[next%most*length:][:length], src.row(next), x)
		}
		cpu.SumPixelRows(dst.row(v), rows, first%most, weights)
	}
}
