package cpu

import "math"

// The direct kernels move windows over any number of spatial axes of planar tensors of any float type,
// one cell at a time, for cases that other kernels do not support. in, out, kernel, strides and
// dilations have an element for each axis. pads lists the cells before the first element of each axis,
// and then those after the last.

const maxWindowAxes = 62

// ConvDirect computes a convolution (ONNX Conv): src is [n, c, in…], weights [m, c/groups,
// kernel…], bias [m] or nil, and dst [n, m, out…]. pads lists the cells of padding before the first
// element of each axis, then the cells after the last. Padding counts as 0.
func ConvDirect[T Float](dst, src, weights, bias []T, n, c, m, groups int, in, out, kernel, strides, dilations, pads []int) {
	w := newWindow(in, out, kernel, strides, dilations, pads)
	if groups < 1 || c%groups != 0 || m%groups != 0 {
		panic("cpu: a convolution of unequal groups")
	}
	depth, each := c/groups, m/groups
	dst, src = trim(dst, volume(n, m, w.places)), trim(src, volume(n, c, w.plane))
	weights = trim(weights, volume(m, depth, w.taps))
	for i := range n * m {
		first := T(0)
		if bias != nil {
			first = bias[i%m]
		}
		to := dst[i*w.places:][:w.places]
		for place := range to {
			to[place] = first
		}
	}
	for w.reset(); w.place < w.places; w.nextPlace() {
		for ; w.tap < w.taps; w.nextTap() {
			at, inside := w.cell()
			if !inside {
				continue
			}
			for i := range n * m {
				group := i/m*c + i%m/each*depth
				sum := T(0)
				for k := range depth {
					sum += T(weights[(i%m*depth+k)*w.taps+w.tap] * src[(group+k)*w.plane+at])
				}
				dst[i*w.places+w.place] += sum
			}
		}
	}
}

// MaxPoolDirect computes the maximum of each window (ONNX MaxPool). The maximum is −Inf if the
// window holds only padding, and NaN if it holds a NaN. src is [c, in…] and dst is [c, out…]. pads
// lists the cells of padding before the first element of each axis, then the cells after the last.
func MaxPoolDirect[T Float](dst, src []T, c int, in, out, kernel, strides, dilations, pads []int) {
	w := newWindow(in, out, kernel, strides, dilations, pads)
	dst, src = trim(dst, volume(c, w.places)), trim(src, volume(c, w.plane))
	for i := range dst {
		dst[i] = T(math.Inf(-1))
	}
	for w.reset(); w.place < w.places; w.nextPlace() {
		for ; w.tap < w.taps; w.nextTap() {
			if at, inside := w.cell(); inside {
				for i := range c {
					to := &dst[i*w.places+w.place]
					*to = max(*to, src[i*w.plane+at])
				}
			}
		}
	}
}

// AveragePoolDirect computes the mean of each window (ONNX AveragePool). The mean is the sum
// divided by the number of cells inside the input. If countPad is true, cells of the padding also
// count. The mean of no cells is zero. src is [c, in…] and dst is [c, out…]. pads lists the cells
// before the first element of each axis, then the cells after the last.
func AveragePoolDirect[T Float](dst, src []T, c int, in, out, kernel, strides, dilations, pads []int, countPad bool) {
	w := newWindow(in, out, kernel, strides, dilations, pads)
	dst, src = trim(dst, volume(c, w.places)), trim(src, volume(c, w.plane))
	clear(dst)
	for w.reset(); w.place < w.places; w.nextPlace() {
		count := 0
		for ; w.tap < w.taps; w.nextTap() {
			at, inside := w.cell()
			if inside || countPad && w.padded() {
				count++
			}
			if inside {
				for i := range c {
					dst[i*w.places+w.place] += src[i*w.plane+at]
				}
			}
		}
		for i := range c {
			dst[i*w.places+w.place] /= T(max(count, 1))
		}
	}
}

// window iterates over the cells of the windows at all positions.
type window struct {
	in, out, kernel, strides, dilations, pads []int

	plane, places, taps int // elements of an image and of a result, cells of a window
	place, tap          int
	at, cellAt          [maxWindowAxes]int // the coordinates of the place and of the cell
}

func newWindow(in, out, kernel, strides, dilations, pads []int) window {
	if len(in) > maxWindowAxes {
		panic("cpu: a window of too many axes")
	}
	w := window{in: in, out: out, kernel: kernel, strides: strides, dilations: dilations, pads: pads}
	w.plane, w.places, w.taps = volume(in...), volume(out...), volume(kernel...)
	return w
}

// reset moves w to the first position, and to the first tap there. w.at and w.cellAt must be 0.
func (w *window) reset() { w.place, w.tap = 0, 0 }

func (w *window) nextTap() {
	w.tap++
	advance(w.cellAt[:len(w.in)], w.kernel)
}

// nextPlace moves to the first cell of the next window.
func (w *window) nextPlace() {
	w.place++
	w.tap = 0
	advance(w.at[:len(w.in)], w.out)
}

// along returns the index of the current cell along an axis. The index is negative before the first
// element.
func (w *window) along(axis int) int64 {
	origin := int64(w.at[axis])*int64(w.strides[axis]) - int64(w.pads[axis])
	return origin + int64(w.cellAt[axis])*int64(w.dilations[axis])
}

// cell returns the offset of the element at the current cell. inside is false if the cell is on
// padding.
func (w *window) cell() (at int, inside bool) {
	for axis, d := range w.in {
		k := w.along(axis)
		if k < 0 || k >= int64(d) {
			return 0, false
		}
		at = at*d + int(k)
	}
	return at, true
}

// padded reports whether the current cell is inside the padded input. Cells beyond the padding at
// the end are not.
func (w *window) padded() bool {
	for axis, d := range w.in {
		if w.along(axis) >= int64(d)+int64(w.pads[len(w.in)+axis]) {
			return false
		}
	}
	return true
}
