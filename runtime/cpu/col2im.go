package cpu

import (
	"fmt"
	"math"
)

const maxFoldAxes = 64

// Col2Im adds columns into images (ONNX Col2Im). src is [n, rows, places] and dst is [n,
// rows/cells, image…], where cells is the product of `block`, the extents of a window. Row
// c·cells+k of src holds cell k of each window of channel c. The windows are placed on the image as
// in a convolution, in row-major order. pads lists the cells before the first element of each axis,
// then the cells after the last. Col2Im returns an error unless `places` is the number of windows
// and rows is a multiple of cells.
func Col2Im[T Number](dst, src []T, n, rows, places int, image, block, strides, dilations, pads []int) error {
	axes, cells, plane := len(image), volume(block...), volume(image...)
	if axes > maxFoldAxes {
		panic("cpu: images of too many axes")
	}
	if cells == 0 || rows%cells != 0 {
		return fmt.Errorf("%d rows for blocks of %d cells", rows, cells)
	}
	var outs, at, tap [maxFoldAxes]int
	for i, d := range image {
		rest := int64(d) + int64(pads[i]) + int64(pads[axes+i]) - int64(block[i]-1)*int64(dilations[i]) - 1
		if rest >= 0 {
			outs[i] = int(min(rest/int64(strides[i])+1, math.MaxInt32))
		}
	}
	if windows := volume(outs[:axes]...); windows != places {
		return fmt.Errorf("%d columns for %d places", places, windows)
	}
	channels := n * (rows / cells)
	if channels == 0 {
		return nil
	}
	dst, src = trim(dst, volume(channels, plane)), trim(src, volume(n, rows, places))
	clear(dst)
	for cell := range cells {
		clear(at[:])
		for place := range places {
			to, inside := 0, true
			for i, d := range image {
				k := at[i]*strides[i] + tap[i]*dilations[i] - pads[i]
				inside = inside && k >= 0 && k < d
				to = to*d + k
			}
			advance(at[:axes], outs[:axes])
			if !inside {
				continue
			}
			for c := range channels {
				dst[c*plane+to] += src[(c*cells+cell)*places+place]
			}
		}
		advance(tap[:axes], block)
	}
	return nil
}
