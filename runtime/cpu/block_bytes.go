package cpu

// BlockBytes converts planar bytes to a blocked tensor with padding. src is [n][c][h][w], and dst
// is uint8[n][⌈c/block⌉][top+h+bottom][left+w+right][block]. block is 16 or 4, and pad is top,
// left, bottom, right. Elements of type int8 are shifted by 128. The padding is fill[0], or zero if
// fill is nil. Channels beyond c are zero.
func BlockBytes[S Byte](dst []uint8, src []S, fill []int32, n, c, h, w, block int, pad [4]int) {
	if block != 16 && block != 4 {
		panic("cpu: bytes in blocks of neither 16 nor 4 channels")
	}
	if pad == ([4]int{}) {
		h, w = 1, volume(h, w)
	}
	b := blockBytes{padded: halo(h, w, pad), n: n, c: c, block: block, change: flip[uint8, S](), outside: firstByte(fill)}
	b.dst = dst[:volume(n, ceil(c, block), b.pixels(), block)]
	b.src = bytesOf(src[:volume(n, c, h, w)])
	if !blocksOfBytes.run(&b, partsFor(0, int64(len(b.dst)))) {
		b.Part(0, 1)
	}
}

func firstByte(v []int32) byte {
	if len(v) == 0 {
		return 0
	}
	return byte(v[0])
}

type blockBytes struct {
	padded
	n, c, block     int
	change, outside byte // XORed with each byte; the padding
	dst, src        []byte
}

var blocksOfBytes slot[blockBytes, *blockBytes]

func (b *blockBytes) Part(i, parts int) {
	blocks, height := ceil(b.c, b.block), b.top+b.h+b.bottom
	from, to := portion(b.n*blocks*height, i, parts)
	for ; from < to; from++ {
		row := b.dst[from*b.width()*b.block:][:b.width()*b.block]
		y, first := from%height-b.top, from/height%blocks*b.block
		if y < 0 || y >= b.h {
			Fill(row, b.outside)
			continue
		}
		channels := min(b.block, b.c-first)
		plane := b.src[(from/height/blocks*b.c+first)*b.h*b.w+y*b.w:]
		Fill(row[:b.left*b.block], b.outside)
		Fill(row[(b.left+b.w)*b.block:], b.outside)
		inner := row[b.left*b.block:][:b.w*b.block]
		interleave(inner, plane, b.w, b.block, b.h*b.w, channels, b.change)
	}
}

// interleave writes w pixels of a block of channels to dst: dst[i·block+c] = planes[c·apart+i] XOR
// change, for each pixel i and each channel c. If channels is less than block, the other channels
// of a pixel become 0.
func interleave(dst, planes []byte, w, block, apart, channels int, change byte) {
	if block == 4 && channels >= 3 {
		a, b, c := planes[:w], planes[apart:][:w], planes[2*apart:][:w]
		d := c
		if channels == 4 {
			d = planes[3*apart:][:w]
		}
		dst = dst[:4*len(a)]
		for i := range a {
			to := (*[4]byte)(dst[4*i:])
			to[0], to[1], to[2], to[3] = a[i]^change, b[i]^change, c[i]^change, 0
			if channels == 4 {
				to[3] = d[i] ^ change
			}
		}
		return
	}
	if channels < block {
		clear(dst)
	}
	transposeBytes(dst, planes, channels, w, block, apart, change)
}

// UnblockBytes converts a blocked tensor to planar bytes. src is uint8[n][⌈c/16⌉][pixels][16], and
// dst is [n][c][pixels].
func UnblockBytes[D Byte](dst []D, src []uint8, n, c, pixels int) {
	u := unblockBytes{n: n, c: c, pixels: pixels, change: flip[D, uint8]()}
	u.dst = bytesOf(dst[:volume(n, c, pixels)])
	u.src = src[:volume(n, ceil(c, 16), pixels, 16)]
	if !unblocksOfBytes.run(&u, partsFor(0, int64(len(u.src)))) {
		u.Part(0, 1)
	}
}

type unblockBytes struct {
	n, c, pixels int
	change       byte
	dst, src     []byte
}

var unblocksOfBytes slot[unblockBytes, *unblockBytes]

func (u *unblockBytes) Part(i, parts int) {
	blocks := ceil(u.c, 16)
	from, to := portion(u.n*blocks, i, parts)
	for ; from < to; from++ {
		first := from % blocks * 16
		plane := u.dst[(from/blocks*u.c+first)*u.pixels:]
		transposeBytes(plane, u.src[from*u.pixels*16:], u.pixels, min(16, u.c-first), u.pixels, 16, u.change)
	}
}

// PadBytes pads the images of a blocked tensor of bytes. src is uint8[planes][h][w][16], and dst is
// uint8[planes][top+h+bottom][left+w+right][16]. pad is top, left, bottom, right. Each element of the
// padding is fill[0], or zero if fill is nil.
func PadBytes(dst, src []uint8, fill []int32, planes, h, w int, pad [4]int) {
	b := padBytes{padded: halo(h, w, pad), planes: planes, outside: firstByte(fill)}
	b.dst = dst[:volume(planes, b.pixels(), 16)]
	b.src = src[:volume(planes, h, w, 16)]
	if !padsOfBytes.run(&b, partsFor(0, int64(len(b.dst)))) {
		b.Part(0, 1)
	}
}

type padBytes struct {
	padded
	planes   int
	outside  byte
	dst, src []byte
}

var padsOfBytes slot[padBytes, *padBytes]

func (b *padBytes) Part(i, parts int) {
	from, to := portion(b.planes, i, parts)
	for ; from < to; from++ {
		plane := b.dst[from*b.pixels()*16:][:b.pixels()*16]
		src := b.src[from*b.h*b.w*16:][:b.h*b.w*16]
		end := 0 // of the bytes written
		for y := range b.h {
			at := 16 * b.at(y)
			Fill(plane[end:at], b.outside)
			end = at + copy(plane[at:], src[y*b.w*16:][:b.w*16])
		}
		Fill(plane[end:], b.outside)
	}
}
