//go:build !amd64 || noasm

package cpu

func (p *pool) planes(from, planes int, y span, across *axis) bool { return false }

// everySecond computes dst[i] = src[2·i].
func everySecond(dst, src []uint32) {
	for i := range dst {
		dst[i] = src[2*i]
	}
}
