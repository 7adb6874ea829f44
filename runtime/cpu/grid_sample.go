package cpu

import "math"

const (
	// maxGridAxes is the maximum number of spatial axes of a grid.
	maxGridAxes = 64
	// maxGridTaps is the maximum number of elements that one point of a grid reads.
	maxGridTaps = 256
)

// GridSample interpolates src at the points of a grid (ONNX GridSample, modes linear and cubic). src
// is [n, c, in…], grid is [n, out…, len(in)], and dst is [n, c, out…]. A point has one coordinate
// for each spatial axis of src, the last axis first. If align is true, −1 and 1 are the centres of
// the first and last element of an axis. Otherwise they are the outer edges of these elements.
//
// padding says what elements outside are: "zeros" for zero, "border" for the nearest edge, and
// "reflection" for the mirrored inside. A point reads 2 elements along each axis, or 4 if cubic is
// true, and at most 256 in total. A channel of src has at most 2³¹−1 elements.
func GridSample[T, G Float](dst, src []T, grid []G, n, c int, in, out []int, cubic bool, padding string, align bool) {
	taps := 2
	if cubic {
		taps = 4
	}
	s := newGridShape(n, c, in, out, taps, padding, align)
	dst, src, grid = trim(dst, volume(n, c, s.places)), trim(src, volume(n, c, s.plane)), trim(grid, volume(n, s.places, s.axes))
	if s.plane == 0 {
		clear(dst)
		return
	}
	d, u, single := float32s(dst, src)
	if g, ok := any(grid).([]float32); ok && single {
		t := gridSample{s, d, u, g}
		work := int64(len(dst)) * int64(s.most) * 16
		if gridSamples.run(&t, partsFor(work, 4*int64(len(src)+len(dst)+len(grid)))) {
			return
		}
	}
	sampleGrid(dst, src, grid, &s, 0, n*s.places)
}

// GridNearest is [GridSample] in mode nearest, for elements of any type. It takes the element
// nearest to each point. If two are equally near, it takes the one with the even index. With
// padding "zeros", a point outside gets the zero value. A channel of src has at most 2³¹−1
// elements.
func GridNearest[T any, G Float](dst, src []T, grid []G, n, c int, in, out []int, padding string, align bool) {
	s := newGridShape(n, c, in, out, 1, padding, align)
	dst, src, grid = trim(dst, volume(n, c, s.places)), trim(src, volume(n, c, s.plane)), trim(grid, volume(n, s.places, s.axes))
	if s.plane == 0 {
		clear(dst)
		return
	}
	var x [gridTile]float64
	var index [gridTile]int32
	for from, to := 0, n*s.places; from < to; {
		batch := from / s.places
		count := min(to-from, (batch+1)*s.places-from, gridTile)
		index := index[:count]
		clear(index)
		for axis, d := range s.in[:s.axes] {
			x := x[:count]
			coordinates(&s, x, grid[from*s.axes:], axis)
			s.pad(x, d)
			for i, at := range index {
				k := elementOf(int32(math.RoundToEven(clamped(x[i], -2, float64(d)+1))), d)
				index[i] = (at*int32(d) + k) | (at|k)>>31
			}
		}
		for i := range s.c {
			channel := batch*s.c + i
			image := src[channel*s.plane:][:s.plane]
			row := dst[channel*s.places+from-batch*s.places:][:count]
			for i, at := range index {
				var v T
				if uint(at) < uint(len(image)) {
					v = image[at]
				}
				row[i] = v
			}
		}
		from += count
	}
}

// gridShape describes the tensor that a grid samples.
type gridShape struct {
	c             int
	axes          int
	in            [maxGridAxes]int
	plane, places int // elements and places of one channel
	taps, most    int // elements that a place reads along an axis, and in all
	align         bool
	padding       gridPadding
}

type gridPadding uint8

const (
	gridZeros gridPadding = iota
	gridBorder
	gridReflection
)

func newGridShape(n, c int, in, out []int, taps int, padding string, align bool) gridShape {
	s := gridShape{c: max(c, 0), axes: len(in), plane: volume(in...), places: volume(out...), taps: taps, most: 1, align: align}
	if copy(s.in[:], in) < len(in) || len(in) == 0 || n < 0 {
		panic("cpu: a grid of no or too many axes, or of a negative size")
	}
	if s.plane > math.MaxInt32 {
		panic("cpu: a grid samples a channel of too many elements")
	}
	for range in {
		if s.most *= taps; s.most > maxGridTaps {
			panic("cpu: a place of a grid reads too much")
		}
	}
	switch padding {
	case "border":
		s.padding = gridBorder
	case "reflection":
		s.padding = gridReflection
	}
	return s
}

type gridSample struct {
	gridShape
	dst, src, grid []float32
}

var gridSamples slot[gridSample, *gridSample]

func (g *gridSample) Part(i, parts int) {
	from, to := portion(len(g.grid)/g.axes, i, parts)
	sampleGrid(g.dst, g.src, g.grid, &g.gridShape, from, to)
}

// sampleGrid computes the results at points [from, to), which are numbered through the whole batch.
// It finds the taps and weights of a tile of points once, and uses them for all channels.
func sampleGrid[T, G Float](dst, src []T, grid []G, s *gridShape, from, to int) {
	var taps gridTaps[T]
	stride := gridTile / s.most
	for from < to {
		batch := from / s.places
		n := min(to-from, (batch+1)*s.places-from, stride)
		findTaps(s, &taps, grid[from*s.axes:], n)
		for c := range s.c {
			image := src[(batch*s.c+c)*s.plane:][:s.plane]
			row := dst[(batch*s.c+c)*s.places+from-batch*s.places:][:n]
			sumTaps(row, image, taps.index[:], taps.weights[:], s.most, stride)
		}
		from += n
	}
}
