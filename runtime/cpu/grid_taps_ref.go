package cpu

// sumTapsRef computes dst[i] = Σ_t weights[t·stride+i] · src[index[t·stride+i]] for t < taps. An index
// of −1 adds nothing.
func sumTapsRef[T Float](dst, src []T, index []int32, weights []T, taps, stride int) {
	clear(dst)
	for t := range taps {
		weights := weights[t*stride:][:len(dst)]
		for i, at := range index[t*stride:][:len(dst)] {
			if uint(at) < uint(len(src)) {
				dst[i] += T(weights[i] * src[at])
			}
		}
	}
}
