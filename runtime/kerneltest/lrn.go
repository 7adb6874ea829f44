package kerneltest

import (
	"fmt"
	"math"
	"testing"
)

// LRNFunc is a local response normalisation. block is 16 for tensors in blocks of 16 channels, and
// 1 for planar tensors.
type LRNFunc func(dst, src []float32, n, c, hw, block, size int, alpha, beta, bias float32)

// LRN tests local response normalisation on blocked and planar tensors. block and unblock convert
// between the two layouts.
func LRN(t *testing.T, lrn LRNFunc, block, unblock func(dst, src []float32, n, c, h, w int)) {
	for _, c := range []int{1, 5, 16, 17, 40} {
		for _, size := range []int{1, 2, 3, 5, 33, 35} {
			for _, beta := range []float32{0.75, 0.5, 1.3} {
				t.Run(fmt.Sprintf("C=%d size=%d beta=%v", c, size, beta), func(t *testing.T) {
					for _, hw := range []int{1, 33, 70} {
						checkLRN(t, lrn, block, unblock, c, hw, size, beta)
					}
				})
			}
		}
	}
}

func checkLRN(t *testing.T, lrn LRNFunc, block, unblock func(dst, src []float32, n, c, h, w int), c, hw, size int, beta float32) {
	t.Helper()
	const n, alpha, bias = 2, 0.3, 1.5
	blocks := (c + 15) / 16
	planar := NewRandom(uint32(c)).Input(n*c*hw, 1)
	src := NewSlice[float32](n*blocks*hw*16, 1)
	block(src.Data, planar.Data, n, c, hw, 1)
	src.Freeze()
	blocked, got := NewSlice[float32](len(src.Data), 3), NewSlice[float32](n*c*hw, 0)
	lrn(blocked.Data, src.Data, n, c, hw, 16, size, alpha, beta, bias)
	for i, v := range blocked.Data {
		if i/16/hw%blocks*16+i%16 >= c && v != 0 {
			t.Fatalf("channel beyond %d is %v", c, v)
		}
	}
	for _, layout := range []string{"blocked", "planar"} {
		if layout == "blocked" {
			unblock(got.Data, blocked.Data, n, c, hw, 1)
		} else {
			lrn(got.Data, planar.Data, n, c, hw, 1, size, alpha, beta, bias)
		}
		for name, s := range map[string]*Slice[float32]{"src": src, "planar": planar, "blocked": blocked, "dst": got} {
			s.Check(t, name)
		}
		for at, v := range got.Data {
			p, channel, image := at%hw, at/hw%c, at/hw/c
			var sum float64
			for j := max(0, channel-(size-1)/2); j <= min(c-1, channel+size/2); j++ {
				x := float64(planar.Data[(image*c+j)*hw+p])
				sum += x * x
			}
			want := float64(planar.Data[at]) / math.Pow(bias+alpha/float64(size)*sum, float64(beta))
			if math.Abs(float64(v)-want) > 1e-6*math.Abs(want)+1e-30 {
				t.Fatalf("%s: element %d is %v, want %v", layout, at, v, want)
			}
		}
	}
}
