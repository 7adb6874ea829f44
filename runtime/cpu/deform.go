package cpu

import "math"

const maxDeformAxes = 8

// DeformColumns gathers the windows of a deformable convolution as columns (ONNX DeformConv without
// its product). src is [n, c, in…] and dst is [n, c, kernel…, out…].
//
// offsets is [n, groups, kernel…, len(in), out…]. It holds the distance in elements by which each
// cell of a window is moved along each axis. The channels of a group have the same offsets. A moved
// cell is interpolated between its neighbours, with zeros outside. The cell is then multiplied by
// its element of factors, [n, groups, kernel…, out…]. A nil factors means ones. pads lists the
// cells of padding before the first element of each axis.
func DeformColumns[T Float](dst, src, offsets, factors []T, n, c, groups int, in, out, kernel, strides, dilations, pads []int) {
	axes, cells, places, plane := len(in), volume(kernel...), volume(out...), volume(in...)
	if axes > maxDeformAxes {
		panic("cpu: a deformed window of too many axes")
	}
	dst, src = trim(dst, volume(n, c, cells, places)), trim(src, volume(n, c, plane))
	offsets = trim(offsets, volume(n, groups, cells, axes, places))
	if factors != nil {
		factors = trim(factors, volume(n, groups, cells, places))
	}
	channels := c / max(groups, 1)
	var at, tap [maxDeformAxes]int
	var index [1 << maxDeformAxes]int
	var weights [1 << maxDeformAxes]T
	for group := range n * groups {
		clear(tap[:])
		for cell := range cells {
			moved := group*cells + cell
			clear(at[:])
			for place := range places {
				taps := 1
				index[0], weights[0] = 0, 1
				if factors != nil {
					weights[0] = factors[moved*places+place]
				}
				for axis, d := range in {
					origin := at[axis]*strides[axis] + tap[axis]*dilations[axis] - pads[axis]
					x := within(float64(origin)+float64(offsets[(moved*axes+axis)*places+place]), -2, float64(d)+1)
					first := math.Floor(x)
					taps = spreadTaps(&index, &weights, taps, int(first), d, T(x-first))
				}
				for i := range channels {
					channel := group*channels + i
					image := src[channel*plane:][:plane]
					sum := T(0)
					for k, from := range index[:taps] {
						sum += T(weights[k] * image[from])
					}
					dst[(channel*cells+cell)*places+place] = sum
				}
				advance(at[:axes], out)
			}
			advance(tap[:axes], kernel)
		}
	}
}

// spreadTaps extends n taps by one more axis, of d elements. Each tap becomes two: one on element
// `first` of the axis, with weight 1 − `part`, and one on element `first`+1, with weight `part`. A
// tap outside of the axis is dropped. spreadTaps overwrites index and weights with the new taps,
// and returns their number.
func spreadTaps[T Float](index *[1 << maxDeformAxes]int, weights *[1 << maxDeformAxes]T, n, first, d int, part T) int {
	low, high := 0, 2
	if first < 0 || first >= d {
		low = 1
	}
	if first+1 < 0 || first+1 >= d {
		high = 1
	}
	k := max(high-low, 0)
	for i := n - 1; i >= 0; i-- {
		base, w := index[i]*d, weights[i]
		for j := range k {
			index[i*k+j] = base + first + low + j
			weights[i*k+j] = w * part
			if low+j == 0 {
				weights[i*k+j] = w * (1 - part)
			}
		}
	}
	return n * k
}

// advance replaces the coordinates `at` by the next ones in row-major order of the shape.
func advance(at, shape []int) {
	for i := len(at) - 1; i >= 0; i-- {
		if at[i]++; at[i] < shape[i] {
			return
		}
		at[i] = 0
	}
}
