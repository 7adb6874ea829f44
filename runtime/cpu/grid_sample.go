package cpu

import "math"

const (
	// maxGridAxes is the maximum number of spatial axes of a grid.
	maxGridAxes = 64
	// maxGridTaps is the maximum number of elements that a point of a grid reads.
	maxGridTaps = 256
)

// GridSample interpolates at the points of a grid (ONNX GridSample, modes linear and cubic). src is
// [n, c, in…], grid [n, out…, len(in)] and dst [n, c, out…]. A point has one coordinate for each
// spatial axis of src, the last axis first. If align is true, −1 and 1 are the centres of the first
// and last element of an axis, and otherwise their outer edges. padding gives the elements outside:
// "zeros" are zero, "border" repeats the edge, and "reflection" mirrors the inside. A point reads 2
// elements along each axis, or 4 if cubic is true, and at most 256 in total.
func GridSample[T, G Float](dst, src []T, grid []G, n, c int, in, out []int, cubic bool, padding string, align bool) {
	taps := 2
	if cubic {
		taps = 4
	}
	s := newGridShape(n, c, in, out, taps, padding, align)
	dst, src, grid = trim(dst, volume(n, c, s.places)), trim(src, volume(n, c, s.plane)), trim(grid, volume(n, s.places, s.axes))
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

// GridNearest is [GridSample] in mode nearest, for elements of any type. A point takes the nearest
// element, ties to the even index. With padding "zeros", a point outside gets the zero value.
func GridNearest[T any, G Float](dst, src []T, grid []G, n, c int, in, out []int, padding string, align bool) {
	s := newGridShape(n, c, in, out, 1, padding, align)
	dst, src, grid = trim(dst, volume(n, c, s.places)), trim(src, volume(n, c, s.plane)), trim(grid, volume(n, s.places, s.axes))
	for p := range n * s.places {
		from, inside := 0, true
		for axis, d := range s.in[:s.axes] {
			x := s.padded(gridPlace(grid[(p+1)*s.axes-1-axis], d, align), d)
			at := int(math.RoundToEven(within(x, -2, float64(d)+1)))
			inside = inside && at >= 0 && at < d
			from = from*d + at
		}
		for i := range c {
			channel := p/s.places*c + i
			var v T
			if inside {
				v = src[channel*s.plane+from]
			}
			dst[channel*s.places+p%s.places] = v
		}
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

// gridPadding is the kind of padding.
type gridPadding uint8

const (
	gridZeros gridPadding = iota
	gridBorder
	gridReflection
)

func newGridShape(n, c int, in, out []int, taps int, padding string, align bool) gridShape {
	s := gridShape{c: max(c, 0), axes: len(in), plane: volume(in...), places: volume(out...), taps: taps, most: 1, align: align}
	if copy(s.in[:], in) < len(in) || n < 0 {
		panic("cpu: a grid of too many axes or of a negative size")
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

// gridSample is the state of a running GridSample.
type gridSample struct {
	gridShape
	dst, src, grid []float32
}

var gridSamples slot[gridSample, *gridSample]

// Part implements [rt.Task]. It divides the places into `parts` shares and processes share i.
func (g *gridSample) Part(i, parts int) {
	if g.axes == 0 {
		return
	}
	from, to := portion(len(g.grid)/g.axes, i, parts)
	sampleGrid(g.dst, g.src, g.grid, &g.gridShape, from, to)
}

// gridBlock is the number of taps that are computed once and used for all channels.
const gridBlock = 2048

// gridTaps holds the elements and weights that some points read. The taps of point i start at
// first[i].
type gridTaps[T Float] struct {
	index   [gridBlock]int
	weights [gridBlock]T
	first   [gridBlock + 1]int
}

// sampleGrid computes the results at points [from, to), counted through all batches.
func sampleGrid[T, G Float](dst, src []T, grid []G, s *gridShape, from, to int) {
	var taps gridTaps[T]
	for from < to {
		batch := from / s.places
		n := min(to-from, (batch+1)*s.places-from, gridBlock/s.most)
		for i := range n {
			first := taps.first[i]
			taps.first[i+1] = first + collect(s, grid[(from+i)*s.axes:][:s.axes], taps.index[first:], taps.weights[first:])
		}
		for c := range s.c {
			image := src[(batch*s.c+c)*s.plane:][:s.plane]
			row := dst[(batch*s.c+c)*s.places+from-batch*s.places:][:n]
			for i := range row {
				low, high := taps.first[i], taps.first[i+1]
				weights, sum := taps.weights[low:high], T(0)
				if high-low == 4 {
					at := taps.index[low:high]
					row[i] = T(T(T(weights[0]*image[at[0]])+T(weights[1]*image[at[1]]))+T(weights[2]*image[at[2]])) + T(weights[3]*image[at[3]])
					continue
				}
				for k, at := range taps.index[low:high] {
					sum += T(weights[k] * image[at])
				}
				row[i] = sum
			}
		}
		from += n
	}
}

// collect stores the offsets and weights of the elements that a point reads, and returns their
// number. place holds the coordinates of the point in the grid's order.
func collect[T, G Float](s *gridShape, place []G, index []int, weights []T) int {
	n := 1
	index[0], weights[0] = 0, 1
	for axis, d := range s.in[:s.axes] {
		var at [4]int
		var w [4]float64
		k := s.along(gridPlace(place[s.axes-1-axis], d, s.align), d, &at, &w)
		for i := n - 1; i >= 0; i-- {
			base, weight := index[i]*d, weights[i]
			for j := range k {
				index[i*k+j], weights[i*k+j] = base+at[j], weight*T(w[j])
			}
		}
		n *= k
	}
	return n
}

// gridPlace converts a coordinate of a grid, −1…1, to a coordinate in elements on an axis of d
// elements.
func gridPlace[G Float](v G, d int, align bool) float64 {
	if align {
		return float64((v + 1) / 2 * G(d-1))
	}
	return float64((G((v+1)*G(d)) - 1) / 2)
}

// along stores the elements that point x reads on an axis in `at`, and their weights in w. It
// returns their number. d is the extent of the axis. Elements outside are left out.
func (s *gridShape) along(x float64, d int, at *[4]int, w *[4]float64) int {
	k := 0
	add := func(i, weight float64) {
		if i >= 0 && i < float64(d) {
			at[k], w[k] = int(i), weight
			k++
		}
	}
	if s.taps == 2 {
		x = within(s.padded(x, d), -2, float64(d)+1)
		first := math.Floor(x)
		add(first, first+1-x)
		add(first+1, x-first)
		return k
	}
	if s.padding == gridReflection {
		x = s.mirrored(x, d)
	}
	x = within(x, -4, float64(d)+3)
	first := math.Floor(x)
	for i, weight := range cubicWeights(x - first) {
		add(s.padded(first-1+float64(i), d), weight)
	}
	return k
}

// cubicWeights returns the weights of four adjacent elements by the cubic convolution kernel with
// coefficient −0.75. The point lies between the second and the third element, at distance f from
// the second.
func cubicWeights(f float64) [4]float64 {
	const a = -0.75
	near := func(d float64) float64 { return float64((float64((a+2)*d)-(a+3))*float64(d*d)) + 1 }
	far := func(d float64) float64 { return float64((float64((float64(a*d)-5*a)*d)+8*a)*d) - 4*a }
	return [4]float64{far(1 + f), near(f), near(1 - f), far(2 - f)}
}

// padded returns coordinate x after padding, on an axis of d elements. It is clamped for "border",
// mirrored and clamped for "reflection", and unchanged for "zeros".
func (s *gridShape) padded(x float64, d int) float64 {
	switch s.padding {
	case gridBorder:
		return within(x, 0, float64(d-1))
	case gridReflection:
		return within(s.mirrored(x, d), 0, float64(d-1))
	}
	return x
}

// mirrored returns the coordinate inside an axis of d elements whose reflection at its ends is x.
func (s *gridShape) mirrored(x float64, d int) float64 {
	low, length := -0.5, float64(d)
	if s.align {
		low, length = 0, float64(d-1)
	}
	if length <= 0 {
		return 0
	}
	x = math.Mod(math.Abs(x-low), 2*length)
	return min(x, 2*length-x) + low
}

// within returns x clamped to [low, high], or low for NaN.
func within(x, low, high float64) float64 {
	if !(x > low) {
		return low
	}
	return min(x, high)
}
