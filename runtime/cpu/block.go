package cpu

// Block converts a planar tensor to a blocked tensor. src is f32[n][c][h][w], and dst is
// f32[n][⌈c/16⌉][h][w][16]. Channels beyond c are zero.
func Block(dst, src []float32, n, c, h, w int) { blocking(dst, src, n, c, h, w, true) }

// Unblock converts a blocked tensor to a planar tensor. src is f32[n][⌈c/16⌉][h][w][16], and dst is
// f32[n][c][h][w].
func Unblock(dst, src []float32, n, c, h, w int) { blocking(src, dst, n, c, h, w, false) }

// blocking copies `planar` to `blocked` if forth is true, and otherwise blocked to planar. The
// layouts are as in [Block].
func blocking(blocked, planar []float32, n, c, h, w int, forth bool) {
	if n <= 0 || c <= 0 || h <= 0 || w <= 0 {
		return
	}
	b := blocker{c: c, pixels: volume(h, w), blocks: ceil(c, 16), forth: forth}
	b.blocked, b.planar = blocked[:volume(n, b.blocks, b.pixels, 16)], planar[:volume(n, c, b.pixels)]
	if !blockers.run(&b, partsFor(0, 4*int64(len(b.blocked)+len(b.planar)))) {
		b.Part(0, 1)
	}
}

// blocker is the state of a running Block or Unblock.
type blocker struct {
	blocked, planar   []float32
	c, blocks, pixels int
	forth             bool
}

var blockers slot[blocker, *blocker]

func (b *blocker) Part(i, parts int) {
	from, to := portion(len(b.blocked)/16, i, parts)
	for from < to {
		block, x := from/b.pixels, from%b.pixels
		first := block % b.blocks * 16
		channels, pixels := min(16, b.c-first), min(blockPixels, b.pixels-x, to-from)
		planar := b.planar[(block/b.blocks*b.c+first)*b.pixels+x:]
		blocked := b.blocked[16*from:][:16*pixels]
		from += pixels
		if !b.forth {
			transpose(planar, blocked, pixels, channels, b.pixels, 16)
			continue
		}
		if channels < 16 {
			clear(blocked)
		}
		transpose(blocked, planar, channels, pixels, 16, b.pixels)
	}
}

// blockPixels is a number of pixels of 16 channels that stays in a first-level cache.
const blockPixels = 256

// PadBlocked pads the images of a blocked tensor. src is f32[n][c][h][w][16] with c blocks, and dst
// is f32[n][c][top+h+bottom][left+w+right][16]. pad is top, left, bottom, right. Each element of
// the padding has the value `fill`.
func PadBlocked(dst, src []float32, n, c, h, w int, pad [4]int, fill float32) {
	s := halo(h, w, pad)
	dst = dst[:volume(n, c, s.pixels(), 16)]
	src = src[:volume(n, c, h, w, 16)]
	rows, width := s.rows()
	for i := range n * c {
		to := dst[i*16*s.pixels():][:16*s.pixels()]
		s.fill(to, fill)
		for y := range rows {
			copy(to[16*s.at(y):], src[16*(i*h*w+y*width):][:16*width])
		}
	}
}

// padded describes an image of h×w pixels with padding around it. All sizes are in pixels.
type padded struct{ h, w, top, left, bottom, right int }

func halo(h, w int, pad [4]int) padded {
	if min(h, w, pad[0], pad[1], pad[2], pad[3]) < 0 {
		panic("cpu: padding of negative size")
	}
	return padded{h, w, pad[0], pad[1], pad[2], pad[3]}
}

// width returns the number of pixels in a padded row. pixels returns the number of pixels in the
// padded image.
func (s padded) width() int  { return s.left + s.w + s.right }
func (s padded) pixels() int { return volume(s.top+s.h+s.bottom, s.width()) }

// rows divides the pixels of the image into pieces that are contiguous in the padded image. It
// returns the number of pieces and their length.
func (s padded) rows() (count, length int) {
	if s.left+s.right == 0 {
		return 1, s.h * s.w
	}
	return s.h, s.w
}

// at returns the index of the pixel, in the padded image, at which piece y of the image starts; see
// rows.
func (s padded) at(y int) int { return (s.top+y)*s.width() + s.left }

// fill sets the padding of dst to `value`. dst has 16 channels for each pixel.
func (s padded) fill(dst []float32, value float32) {
	set := func(from, to int) {
		part := dst[16*from : 16*to]
		for i := range part {
			part[i] = value
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
