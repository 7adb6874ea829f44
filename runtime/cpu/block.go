package cpu

// Block writes the planar tensor src, f32[n][c][h][w], into the blocked tensor dst,
// f32[n][⌈c/16⌉][top+h+bottom][left+w+right][16], where pad is top, left, bottom, right.
// The padding is fill; channels beyond c are zero.
func Block(dst, src []float32, n, c, h, w int, pad [4]int, fill float32) {
	s := halo(h, w, pad)
	blocks := ceil(c, 16)
	dst = dst[:volume(n, blocks, s.pixels(), 16)]
	src = src[:volume(n, c, h, w)]
	for i := range n * blocks {
		first := i % blocks * 16
		channels := min(16, c-first)
		plane := src[(i/blocks*c+first)*h*w:][:channels*h*w]
		to := dst[16*i*s.pixels():][:16*s.pixels()]
		if channels < 16 {
			clear(to)
		}
		s.fill(to, 16, channels, fill)
		rows, width := s.rows()
		for y := range rows {
			for x := 0; x < width; x += blockPixels {
				transpose(to[16*(s.at(y)+x):], plane[y*width+x:], channels, min(blockPixels, width-x), 16, h*w)
			}
		}
	}
}

// blockPixels of 16 channels stay in a first-level cache.
const blockPixels = 256

// Unblock writes the blocked tensor src, f32[n][⌈c/16⌉][h][w][16], into the planar tensor
// dst, f32[n][c][h][w].
func Unblock(dst, src []float32, n, c, h, w int) {
	blocks, pixels := ceil(c, 16), h*w
	dst = dst[:volume(n, c, h, w)]
	src = src[:volume(n, blocks, h, w, 16)]
	for i := range n * blocks {
		first := i % blocks * 16
		channels := min(16, c-first)
		plane := dst[(i/blocks*c+first)*pixels:][:channels*pixels]
		from := src[16*i*pixels:][:16*pixels]
		for x := 0; x < pixels; x += blockPixels {
			transpose(plane[x:], from[16*x:], min(blockPixels, pixels-x), channels, pixels, 16)
		}
	}
}

// PadBlocked copies f32[n][cb][h][w][block] to f32[n][cb][top+h+bottom][left+w+right][block], where pad
// is top, left, bottom, right. The padding is fill in all block channels.
func PadBlocked(dst, src []float32, n, cb, h, w, block int, pad [4]int, fill float32) {
	s := halo(h, w, pad)
	dst = dst[:volume(n, cb, s.pixels(), block)]
	src = src[:volume(n, cb, h, w, block)]
	rows, width := s.rows()
	for i := range n * cb {
		to := dst[i*s.pixels()*block:][:s.pixels()*block]
		s.fill(to, block, block, fill)
		for y := range rows {
			copy(to[s.at(y)*block:], src[(i*h*w+y*width)*block:][:width*block])
		}
	}
}

// padded is an image of h×w pixels within padding.
type padded struct{ h, w, top, left, bottom, right int }

func halo(h, w int, pad [4]int) padded {
	if min(h, w, pad[0], pad[1], pad[2], pad[3]) < 0 {
		panic("cpu: padding of negative size")
	}
	return padded{h, w, pad[0], pad[1], pad[2], pad[3]}
}

// width is the number of pixels of a row with its padding, pixels that of all rows.
func (s padded) width() int  { return s.left + s.w + s.right }
func (s padded) pixels() int { return volume(s.top+s.h+s.bottom, s.width()) }

// rows returns how many runs of neighbouring pixels the image has, and their length.
func (s padded) rows() (count, length int) {
	if s.left+s.right == 0 {
		return 1, s.h * s.w
	}
	return s.h, s.w
}

// at is the pixel where run y starts.
func (s padded) at(y int) int { return (s.top+y)*s.width() + s.left }

// fill sets the first channels of each block of the padding's pixels.
func (s padded) fill(dst []float32, block, channels int, value float32) {
	set := func(from, to int) {
		if channels == block {
			part := dst[from*block : to*block]
			for i := range part {
				part[i] = value
			}
			return
		}
		for p := from; p < to; p++ {
			for i := range channels {
				dst[p*block+i] = value
			}
		}
	}
	set(0, s.top*s.width())
	for y := range s.h {
		start := (s.top + y) * s.width()
		set(start, start+s.left)
		set(start+s.left+s.w, start+s.width())
	}
	set((s.top+s.h)*s.width(), s.pixels())
}
