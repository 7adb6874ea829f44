package cpu

import "math"

// RoiAlign pools regions of images into bins (ONNX RoiAlign). src is [n, c, h, w], and dst is [R,
// c, outH, outW] for R regions. rois, [R, 4], holds x1, y1, x2 and y2 of each region; times scale,
// they are coordinates in elements of src. images, [R], holds the index of each region's image. If
// `half` is true, 0.5 is subtracted from the coordinates (half_pixel). Otherwise a region that is
// less than 1 wide or high is extended to 1.
//
// A bin has `ratio` samples along each axis. If ratio is 0, it has as many as the bin is long in
// elements, rounded up. A sample is interpolated between four elements. A sample more than one
// element outside of src is 0. The result of a bin is the mean of its samples. If `most` is true,
// it is instead the largest product of an element and its weight in any sample.
//
// RoiAlign returns an [IndexError] for an image out of range; dst is then partly written.
func RoiAlign[T Float, I int32 | int64](dst, src, rois []T, images []I, n, c, h, w, outH, outW, ratio int, scale float64, half, most bool) error {
	bins, plane := volume(outH, outW), volume(h, w)
	dst, src, rois = trim(dst, volume(len(images), c, bins)), trim(src, volume(n, c, plane)), trim(rois, volume(len(images), 4))
	for r, k := range images {
		image := int(k)
		if int64(k) < 0 || int64(k) >= int64(n) {
			return &IndexError{Index: int64(k), Dim: n, What: "batch index", Things: "images"}
		}
		roi, from, to := rois[4*r:][:4], src[image*c*plane:][:c*plane], dst[r*c*bins:][:c*bins]
		down := newRoiAxis(roi[1], roi[3], outH, h, ratio, T(scale), half)
		across := newRoiAxis(roi[0], roi[2], outW, w, ratio, T(scale), half)
		if c == 0 {
			continue
		}
		for y := range outH {
			for x := range outW {
				poolRoi(to[y*outW+x:], from, c, bins, plane, &down, &across, y, x, most)
			}
		}
	}
	return nil
}

// poolRoi computes bin y, x of a region, for all c channels. bins is the number of bins of a
// region, and plane the number of elements of a channel. `most` has the meaning that it has in
// [RoiAlign].
func poolRoi[T Float](dst, src []T, c, bins, plane int, down, across *roiAxis[T], y, x int, most bool) {
	for i := range c {
		dst[i*bins] = 0
	}
	count, seen := T(down.samples)*T(across.samples), 0
	fromY, toY := down.inside(y)
	fromX, toX := across.inside(x)
	for ky := fromY; ky < toY; ky++ {
		rows, rowWeights, ok := down.sample(y, ky)
		if !ok {
			continue
		}
		for kx := fromX; kx < toX; kx++ {
			columns, columnWeights, ok := across.sample(x, kx)
			if !ok {
				continue
			}
			var at [4]int
			var weights [4]T
			for i := range at {
				at[i], weights[i] = rows[i/2]*across.extent+columns[i%2], rowWeights[i/2]*columnWeights[i%2]
			}
			for i := range c {
				image, to := src[i*plane:][:plane], &dst[i*bins]
				v0, v1 := T(weights[0]*image[at[0]]), T(weights[1]*image[at[1]])
				v2, v3 := T(weights[2]*image[at[2]]), T(weights[3]*image[at[3]])
				switch {
				case !most:
					*to += ((v0 + v1) + v2) + v3
				case seen == 0:
					*to = max(v0, v1, v2, v3)
				default:
					*to = max(*to, v0, v1, v2, v3)
				}
			}
			seen++
		}
	}
	for i := range c {
		switch to := &dst[i*bins]; {
		case most && T(seen) < count:
			*to = max(*to, 0)
		case !most && count > 0:
			*to /= count
		}
	}
}

// roiAxis is a region along an axis, with its bins.
type roiAxis[T Float] struct {
	start, bin T   // first coordinate of the region, and length of a bin, in elements
	samples    int // of a bin
	extent     int // elements of the axis
}

func newRoiAxis[T Float](start, end T, bins, extent, ratio int, scale T, half bool) roiAxis[T] {
	start, end = T(start*scale), T(end*scale)
	if half {
		start, end = start-0.5, end-0.5
	}
	length := end - start
	if !half && !(length > 1) {
		length = 1
	}
	a := roiAxis[T]{start, length / T(bins), ratio, extent}
	if ratio == 0 {
		a.samples = int(within(math.Ceil(float64(a.bin)), 0, math.MaxInt32))
	}
	return a
}

// inside returns a range [from, to) of samples of a bin that has all samples on the axis. For a
// sample outside of the range, [roiAxis.sample] returns false.
func (a *roiAxis[T]) inside(bin int) (from, to int) {
	const few = 1 << 12
	if a.samples <= few {
		return 0, a.samples
	}
	begin, most := float64(a.start)+float64(float64(bin)*float64(a.bin)), float64(a.samples)
	first := within((-1-begin)/float64(a.bin)*most-2, 0, most)
	last := within((float64(a.extent)-begin)/float64(a.bin)*most+2, first, most)
	return int(first), int(last)
}

// sample returns the indices of the two elements around sample k of a bin, and their weights. Both
// indices are clamped to the axis. ok is false if the axis is empty. It is also false if the sample
// is more than 1 before the first element, or more than 1 after the last element.
func (a *roiAxis[T]) sample(bin, k int) (at [2]int, weights [2]T, ok bool) {
	x := (a.start + T(T(bin)*a.bin)) + T((T(k)+0.5)*a.bin)/T(a.samples)
	if !(x >= -1 && x <= T(a.extent)) || a.extent == 0 {
		return at, weights, false
	}
	last := a.extent - 1
	x = min(max(x, 0), T(last))
	first := min(int(x), last)
	part := x - T(first)
	return [2]int{first, min(first+1, last)}, [2]T{1 - part, part}, true
}

// MaxRoiPool computes the maximum of each bin of regions (ONNX MaxRoiPool). src is [n, c, h, w],
// and dst is [R, c, outH, outW] for R regions. rois, [R, 5], holds for each region the index of its
// image, and x1, y1, x2 and y2. Multiplied by scale and rounded, x1 and y1 are the first column and
// row, and x2 and y2 the last column and row. A region is at least 1 wide and high. An empty bin is
// 0. MaxRoiPool returns an [IndexError] for an image out of range; dst is then partly written.
func MaxRoiPool[T Float](dst, src, rois []T, n, c, h, w, outH, outW int, scale float64) error {
	bins, plane := volume(outH, outW), volume(h, w)
	regions := len(rois) / 5
	dst, src = trim(dst, volume(regions, c, bins)), trim(src, volume(n, c, plane))
	for r := range regions {
		roi := rois[5*r:][:5]
		index := int(within(math.Floor(float64(roi[0])), math.MinInt32, math.MaxInt32))
		if index < 0 || index >= n {
			return &IndexError{Index: int64(index), Dim: n, What: "batch index", Things: "images"}
		}
		image := src[index*c*plane:][:c*plane]
		for y := range outH {
			top, bottom := roiBin(roi[2], roi[4], T(scale), y, outH, h)
			for x := range outW {
				left, right := roiBin(roi[1], roi[3], T(scale), x, outW, w)
				for i := range c {
					most, some := T(math.Inf(-1)), false
					for row := top; row < bottom && left < right; row++ {
						for _, v := range image[i*plane+row*w:][left:right] {
							most, some = max(most, v), true
						}
					}
					if !some {
						most = 0
					}
					dst[((r*c+i)*outH+y)*outW+x] = most
				}
			}
		}
	}
	return nil
}

// roiBin returns the range [from, to) of elements of one bin of a region, along an axis. The range
// is clamped to the axis. `start` and `end` are the first and last coordinate of the region, before
// they are multiplied by scale. bins is the number of bins along the axis.
func roiBin[T Float](start, end, scale T, bin, bins, extent int) (from, to int) {
	place := func(v T) float64 {
		return within(math.Round(float64(T(v*scale))), -math.MaxInt32, math.MaxInt32)
	}
	first := place(start)
	step := T(max(place(end)-first+1, 1)) / T(bins)
	clamp := func(v float64) int { return int(within(v+first, 0, float64(extent))) }
	return clamp(math.Floor(float64(T(bin) * step))), clamp(math.Ceil(float64(T(bin+1) * step)))
}
