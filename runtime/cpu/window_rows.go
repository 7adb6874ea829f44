package cpu

import "unsafe"

// windowRows describes weighted sums over windows, for rows of outputs. The taps have the same
// distances from each output of a row. Distances are in bytes. Vectors of src are read whole, so up
// to 15 elements after the last needed element are read.
type windowRows struct {
	dst      unsafe.Pointer
	src      unsafe.Pointer // address of a tap at distance 0 of the first output
	residual unsafe.Pointer // laid out as dst, or nil
	taps     unsafe.Pointer // count ints: the distance of each tap
	weights  unsafe.Pointer // count float32s: the weight of each tap
	count    int            // at least one
	rows, n  int
	dstRow   int // from a row to the next
	srcRow   int
	bias     float32
	lo, hi   float32
}

// windowRowsRef computes weighted sums over windows. For each row y and each of n columns x,
//
//	dst[y][x] = clamp(bias + Σ src[y][x + taps[i]]·weights[i] + residual[y][x])
//
// Every product is rounded, so the bits are the same on every processor.
func windowRowsRef(t *windowRows) {
	taps := unsafe.Slice((*int)(t.taps), t.count)
	weights := unsafe.Slice((*float32)(t.weights), t.count)
	var sums [64]float32
	for y := range t.rows {
		for x := 0; x < t.n; x += len(sums) {
			sums := sums[:min(len(sums), t.n-x)]
			for i := range sums {
				sums[i] = t.bias
			}
			for i, w := range weights {
				src := unsafe.Slice((*float32)(unsafe.Add(t.src, y*t.srcRow+4*x+taps[i])), len(sums))
				for j, v := range src {
					sums[j] += float32(v * w)
				}
			}
			at := y*t.dstRow + 4*x
			if t.residual != nil {
				for j, v := range unsafe.Slice((*float32)(unsafe.Add(t.residual, at)), len(sums)) {
					sums[j] += v
				}
			}
			dst := unsafe.Slice((*float32)(unsafe.Add(t.dst, at)), len(sums))
			for j, v := range sums {
				switch {
				case v < t.lo:
					v = t.lo
				case v > t.hi:
					v = t.hi
				}
				dst[j] = v
			}
		}
	}
}
