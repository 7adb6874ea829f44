package cpu

import "math"

const maxDeformAxes = 8

// DeformColumns extracts the windows of a deformable convolution as columns (ONNX DeformConv
// without its product). src is [n, c, in…] and dst [n, c, kernel…, out…]. offsets, [n, groups,
// kernel…, len(in), out…], are the distances in elements by which each cell of a window is moved
// along each axis. The channels of a group share their offsets. A moved cell is interpolated
// between its neighbours, with zeros outside. The cells are multiplied by factors, [n, groups,
// kernel…, out…], unless factors is nil. pads lists the cells before the first element of each
// axis.
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

// spreadTaps splits each of n taps in two along one more axis, of d elements. One is on element `first`, with weight 1
// − part, and the other on element `first`+1, with weight part. A tap outside of the axis is dropped. index and weights
// hold the taps, and are overwritten with the new taps. It returns the new number of taps.
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
