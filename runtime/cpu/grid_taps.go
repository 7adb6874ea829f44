package cpu

import "math"

// gridTile is the maximum number of taps in a tile of points. The points of a tile are computed
// together.
const gridTile = 1024

// gridTaps holds the taps of the points of a tile: the elements that the points read, and their
// weights. Tap t of point i is at index t·stride + i, where stride is the maximum number of points
// in a tile. A tap outside has index −1.
type gridTaps[T Float] struct {
	x       [gridTile]float64 // the points' coordinates along an axis
	index   [gridTile]int32
	weights [gridTile]T
	axis    struct { // the taps along an axis
		index   [gridTile]int32
		weights [gridTile]T
	}
}

// findTaps finds the taps of the first n points of grid, and stores them in taps.
func findTaps[T, G Float](s *gridShape, taps *gridTaps[T], grid []G, n int) {
	stride, count := gridTile/s.most, s.taps
	x := taps.x[:n]
	for axis, d := range s.in[:s.axes] {
		index, weights := taps.axis.index[:], taps.axis.weights[:]
		if axis == 0 {
			index, weights = taps.index[:], taps.weights[:]
		}
		coordinates(s, x, grid, axis)
		if s.taps == 2 {
			s.pad(x, d)
			linearTaps(index, weights, x, d, stride)
		} else {
			cubicTaps(s, index, weights, x, d, stride)
		}
		if axis > 0 {
			combineTaps(taps, d, count, s.taps, stride, n)
			count *= s.taps
		}
	}
}

// combineTaps combines two lists of taps for each of n points. The first has `count` taps, for the
// axes so far. The second has m taps along the next axis, which has d elements. `stride` is the
// distance between the taps of a point.
func combineTaps[T Float](taps *gridTaps[T], d, count, m, stride, n int) {
	for i := count - 1; i >= 0; i-- {
		rows, weights := taps.index[i*stride:][:n], taps.weights[i*stride:][:n]
		for j := m - 1; j >= 0; j-- { // in this order because the last one overwrites rows if i is 0
			to, product := taps.index[(i*m+j)*stride:][:n], taps.weights[(i*m+j)*stride:][:n]
			along, by := taps.axis.index[j*stride:][:n], taps.axis.weights[j*stride:][:n]
			for p, row := range rows {
				to[p] = (row*int32(d) + along[p]) | (row|along[p])>>31
				product[p] = weights[p] * by[p]
			}
		}
	}
}

// coordinates converts the coordinates of points along an axis. In grid they are from −1 to 1. In x
// they are in elements.
func coordinates[G Float](s *gridShape, x []float64, grid []G, axis int) {
	d := s.in[axis]
	grid = grid[s.axes-1-axis:]
	if s.align {
		last := G(d - 1)
		for i := range x {
			x[i] = float64((grid[i*s.axes] + 1) / 2 * last)
		}
		return
	}
	extent := G(d)
	for i := range x {
		x[i] = float64((G((grid[i*s.axes]+1)*extent) - 1) / 2)
	}
}

// linearTaps finds the two elements that each point reads along an axis of d elements. It stores
// their indices in `index`, and their weights in `weights`: element t of point i is at t·stride +
// i. x holds the coordinates of the points.
func linearTaps[T Float](index []int32, weights []T, x []float64, d, stride int) {
	low, high := index[:len(x)], index[stride:][:len(x)]
	rest, part := weights[:len(x)], weights[stride:][:len(x)]
	for i, v := range x {
		v = clamped(v, -2, float64(d)+1)
		first := math.Floor(v)
		k := int32(first)
		low[i], high[i] = elementOf(k, d), elementOf(k+1, d)
		rest[i], part[i] = T(first+1-v), T(v-first)
	}
}

// elementOf returns i, or −1 outside an axis of d elements.
func elementOf(i int32, d int) int32 {
	if uint32(i) >= uint32(d) {
		return -1
	}
	return i
}

// cubicTaps finds the four elements that each point reads along an axis of d elements. It stores
// their indices in `index`, and their weights in `weights`: element t of point i is at t·stride +
// i. x holds the coordinates of the points. The weights come from the cubic convolution kernel with
// coefficient −0.75.
func cubicTaps[T Float](s *gridShape, index []int32, weights []T, x []float64, d, stride int) {
	if s.padding == gridReflection {
		s.mirror(x, d)
	}
	for i, v := range x {
		x[i] = clamped(v, -4, float64(d)+3)
	}
	for k := range 4 {
		s.neighbours(index[k*stride:][:len(x)], x, d, k-1)
	}
	w0, w1 := weights[:len(x)], weights[stride:][:len(x)]
	w2, w3 := weights[2*stride:][:len(x)], weights[3*stride:][:len(x)]
	for i, v := range x {
		f := v - math.Floor(v)
		w0[i], w1[i], w2[i], w3[i] = T(farWeight(1+f)), T(nearWeight(f)), T(nearWeight(1-f)), T(farWeight(2-f))
	}
}

const cubicA = -0.75

// nearWeight returns the cubic convolution kernel at d, which is the distance to an element. d is
// at most 1.
func nearWeight(d float64) float64 {
	return float64((float64((cubicA+2)*d)-(cubicA+3))*float64(d*d)) + 1
}

// farWeight returns the cubic convolution kernel at d, which is the distance to an element. d is
// from 1 to 2.
func farWeight(d float64) float64 {
	return float64((float64((float64(cubicA*d)-5*cubicA)*d)+8*cubicA)*d) - 4*cubicA
}

// neighbours sets index[i] to the element at position ⌊x[i]⌋ + step of an axis of d elements. If
// the position is outside of the axis, the padding mode s.padding selects the element.
func (s *gridShape) neighbours(index []int32, x []float64, d, step int) {
	const reach = 6 // ⌊x⌋ + step is from −reach to d−1+reach
	last := int32(d - 1)
	switch {
	case s.padding == gridBorder:
		for i, v := range x {
			index[i] = max(0, min(int32(math.Floor(v))+int32(step), last))
		}
	case s.padding == gridReflection && d < 2*reach: // may be mirrored several times
		for i, v := range x {
			index[i] = int32(clamped(s.mirrored(math.Floor(v)+float64(step), d), 0, float64(last)))
		}
	case s.padding == gridReflection:
		before, after := int32(-1), 2*last+1
		if s.align {
			before, after = 0, 2*last
		}
		for i, v := range x {
			at := int32(math.Floor(v)) + int32(step)
			index[i] = min(max(at, before-at), after-max(at, before-at))
		}
	default:
		for i, v := range x {
			index[i] = elementOf(int32(math.Floor(v))+int32(step), d)
		}
	}
}

// pad moves coordinates that are outside of an axis of d elements. It clamps them for "border",
// mirrors and then clamps them for "reflection", and leaves them unchanged for "zeros".
func (s *gridShape) pad(x []float64, d int) {
	switch s.padding {
	case gridZeros:
		return
	case gridReflection:
		s.mirror(x, d)
	}
	for i, v := range x {
		x[i] = clamped(v, 0, float64(d-1))
	}
}

// mirror replaces each coordinate of x by its [gridShape.mirrored].
func (s *gridShape) mirror(x []float64, d int) {
	low, length := s.ends(d)
	if length <= 0 {
		clear(x)
		return
	}
	period, periods := 2*length, 1/(2*length)
	for i, v := range x {
		v -= low
		if !(math.Abs(v) < 1<<52) { // the number of periods may not be exact
			x[i] = s.mirrored(v+low, d)
			continue
		}
		x[i] = math.Abs(v-float64(period*math.RoundToEven(v*periods))) + low
	}
}

// mirrored reflects x at the two ends of an axis of d elements until it is between the ends, and
// returns it; see [gridShape.ends].
func (s *gridShape) mirrored(x float64, d int) float64 {
	low, length := s.ends(d)
	if length <= 0 {
		return 0
	}
	x = math.Mod(math.Abs(x-low), 2*length)
	return min(x, 2*length-x) + low
}

// ends returns the coordinate of the first end of an axis of d elements, and the distance to the
// other end. If align is true, the ends are the centres of the first and last element. Otherwise they
// are half an element further out.
func (s *gridShape) ends(d int) (low, length float64) {
	if s.align {
		return 0, float64(d - 1)
	}
	return -0.5, float64(d)
}

// clamped returns x clamped to [low, high], or low if x is NaN. It takes the same time for every x.
func clamped(x, low, high float64) float64 {
	x = max(low, min(x, high))
	if x != x {
		return low
	}
	return x
}

// within returns x clamped to [low, high], or low for NaN.
func within(x, low, high float64) float64 {
	if !(x > low) {
		return low
	}
	return min(x, high)
}

// sumTaps is [sumTapsRef]. If T is float32 and there is assembly, assembly computes the results of
// eight points at a time.
func sumTaps[T Float](dst, src []T, index []int32, weights []T, taps, stride int) {
	if d, u, single := float32s(dst, src); single {
		eights := len(d) &^ 7
		if w, _ := any(weights).([]float32); sumTapsByEights(d[:eights], u, index, w, taps, stride) {
			dst, index, weights = dst[eights:], index[eights:], weights[eights:]
		}
	}
	sumTapsRef(dst, src, index, weights, taps, stride)
}
