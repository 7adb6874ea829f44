package kerneltest

import (
	"testing"
)

// Block tests the conversions between planar tensors, [n, c, h, w], and blocked tensors, [n,
// ⌈c/16⌉, h, w, 16]. It also tests the padding of blocked tensors.
func Block(t *testing.T,
	block, unblock func(dst, src []float32, n, c, h, w int),
	padBlocked func(dst, src []float32, n, c, h, w int, pad [4]int, fill float32)) {
	const n = 2
	for _, c := range []int{1, 3, 7, 8, 9, 16, 17, 40} {
		for _, size := range [][2]int{{1, 1}, {1, 9}, {3, 8}, {5, 13}, {20, 30}} {
			for _, pad := range [][4]int{{}, {1, 1, 1, 1}, {0, 2, 3, 0}} {
				checkPad(t, padBlocked, n, (c+15)/16, size[0], size[1], pad)
			}
			checkBlock(t, block, n, c, size[0], size[1])
			checkUnblock(t, block, unblock, n, c, size[0], size[1])
		}
	}
}

func checkBlock(t *testing.T, block func(dst, src []float32, n, c, h, w int), n, c, h, w int) {
	t.Helper()
	blocks := (c + 15) / 16
	src := NewRandom(1).Input(n*c*h*w, c%3)
	dst := NewSlice[float32](n*blocks*h*w*16, c%2)
	block(dst.Data, src.Data, n, c, h, w)
	src.Check(t, "src")
	dst.Check(t, "dst")
	for at, got := range dst.Data {
		pixel, i := at/16%(h*w), at/16/(h*w)
		channel, want := i%blocks*16+at%16, float32(0)
		if channel < c {
			want = src.Data[(i/blocks*c+channel)*h*w+pixel]
		}
		if got != want {
			t.Fatalf("%d channels of %d×%d: element %d is %v, want %v", c, h, w, at, got, want)
		}
	}
}

func checkUnblock(t *testing.T, block, unblock func(dst, src []float32, n, c, h, w int), n, c, h, w int) {
	t.Helper()
	planar := NewRandom(2).Input(n*c*h*w, 0)
	src := NewSlice[float32](n*((c+15)/16)*h*w*16, c%3)
	block(src.Data, planar.Data, n, c, h, w)
	src.Freeze()
	dst := NewSlice[float32](n*c*h*w, c%2)
	unblock(dst.Data, src.Data, n, c, h, w)
	src.Check(t, "src")
	dst.Check(t, "dst")
	for i, got := range dst.Data {
		if got != planar.Data[i] {
			t.Fatalf("%d channels of %d×%d: element %d is %v, want %v", c, h, w, i, got, planar.Data[i])
		}
	}
}

func checkPad(t *testing.T, pad func(dst, src []float32, n, c, h, w int, pad [4]int, fill float32), n, c, h, w int, by [4]int) {
	t.Helper()
	const fill, block = 7, 16
	height, width := h+by[0]+by[2], w+by[1]+by[3]
	src := NewRandom(3).Input(n*c*h*w*block, 1)
	dst := NewSlice[float32](n*c*height*width*block, 2)
	pad(dst.Data, src.Data, n, c, h, w, by, fill)
	src.Check(t, "src")
	dst.Check(t, "dst")
	for at, got := range dst.Data {
		pixel := at / block
		x, y := pixel%width-by[1], pixel/width%height-by[0]
		want := float32(fill)
		if x >= 0 && x < w && y >= 0 && y < h {
			want = src.Data[((pixel/width/height*h+y)*w+x)*block+at%block]
		}
		if got != want {
			t.Fatalf("%d×%d, padding %v: element %d is %v, want %v", h, w, by, at, got, want)
		}
	}
}
