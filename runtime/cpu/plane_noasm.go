//go:build !amd64 || noasm

package cpu

func (p *pool) planes(from, planes int, y span, across *axis) bool { return false }

// everySecond computes dst[i] = src[2·i].
func everySecond(dst, src []uint32) {
	for i := range dst {
		dst[i] = src[2*i]
	}
}

// splitPairs takes pairs apart: even[i], odd[i] = src[2·i], src[2·i+1].
func splitPairs(even, odd, src []float32) {
	odd = odd[:len(src)/2]
	for i := range odd {
		even[i], odd[i] = src[2*i], src[2*i+1]
	}
	if len(src)%2 != 0 {
		even[len(odd)] = src[2*len(odd)]
	}
}
