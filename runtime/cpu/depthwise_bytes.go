package cpu

import "github.com/burngen/burngen/runtime/rt"

import "unsafe"

// DepthwiseBytes computes a depthwise convolution of bytes with C = InC = OutC channels. src is
// uint8[N][⌈C/16⌉][InH][InW][16], and includes the padding. dst is
// uint8[N][⌈C/16⌉][OutH][OutW][16]. The weights are packed by [PackDepthwiseBytes],
// int8[⌈C/16⌉][KH][⌈KW/4⌉][16][4].
//
// The sums are requantised as by [ProductInteger]. scale and bias have one element, or one for each
// channel; bias may be nil. `last` has one element, or is nil, which means 0. Channels beyond C are
// last[0], clamped.
func DepthwiseBytes(dst, src []uint8, weights []int8, bias []int32, scale []float64, last []int32, s *ConvShape, lo, hi int) {
	if s.N <= 0 || s.OutC <= 0 || s.OutH <= 0 || s.OutW <= 0 {
		return
	}
	if s.InC != s.OutC || s.InBlock != 16 || min(s.KH, s.KW) < 1 {
		panic("cpu: a depthwise convolution of unequal channels")
	}
	s.checkWindows()
	d := depthwiseBytes{ConvShape: *s, bias: bias, requantised: requantise(scale, last, lo, hi, s.OutC)}
	if len(bias) > 1 && len(bias) < s.OutC {
		panic("cpu: a convolution with too few channels")
	}
	d.src = src[:volume(s.N, s.inBlocks(), s.InH, s.InW, 16)]
	d.dst = dst[:volume(s.N, s.inBlocks(), s.OutH, s.OutW, 16)]
	d.size = volume(s.KH, ceil(s.KW, 4), 64)
	d.weights = weights[:volume(s.inBlocks(), d.size)]
	work := int64(len(d.dst)) * int64(s.KH*s.KW)
	parts := depthwisesOfBytes.runUntil(s.Ctx, &d, nanoseconds(work, int64(len(d.src)+len(d.dst))))
	for i := range parts {
		rt.EndIfDone(s.Ctx)
		d.Part(i, parts)
	}
}

// PackDepthwiseBytes packs weights [c][kh][kw] for [DepthwiseBytes]. uint8 is shifted by −128.
func PackDepthwiseBytes[S Byte](dst []int8, w []S, c, kh, kw int) {
	row := ceil(kw, 4) * 64
	to := bytesOf(dst[:volume(ceil(c, 16), kh, row)])
	clear(to)
	change := flip[int8, S]()
	for i, v := range bytesOf(w[:volume(c, kh, kw)]) {
		channel, y, x := i/kw/kh, i/kw%kh, i%kw
		to[(channel/16*kh+y)*row+x/4*64+channel%16*4+x%4] = v ^ change
	}
}

type depthwiseBytes struct {
	ConvShape
	requantised
	dst, src []byte
	weights  []int8
	bias     []int32
	size     int // weights of a block
}

var depthwisesOfBytes slot[depthwiseBytes, *depthwiseBytes]

// byteWindow describes a row of pixels to a kernel. Distances are in bytes.
type byteWindow struct {
	a, b, c     unsafe.Pointer // input, weights and result
	n           int            // pixels
	stepA       int            // from a pixel's window to the next
	rows        int            // of a window
	rowA        int            // from a row of a window to the next
	fours, rest int            // cells of a row: fours·4 + rest
	cell        int            // from a cell to the next, 16 for the assembly
	columns     *byteColumns
	lo, hi      float32
	last        int32
}

func (d *depthwiseBytes) Part(i, parts int) {
	blocks := d.inBlocks()
	from, to := portion(d.N*blocks*d.OutH, i, parts)
	var columns byteColumns
	t := byteWindow{
		n: d.OutW, stepA: 16 * d.StrideW, rows: d.KH, rowA: 16 * d.DilH * d.InW,
		fours: d.KW / 4, rest: d.KW % 4, cell: 16 * d.DilW, columns: unseen(&columns),
		lo: float32(d.lo - d.last), hi: float32(d.hi - d.last), last: int32(d.last),
	}
	for set := -1; from < to; from++ {
		plane, y := from/d.OutH, from%d.OutH
		if block := plane % blocks; block != set {
			set = block
			columns = byteColumns{}
			width := min(16, d.OutC-16*block)
			spread(columns.first[:width], d.bias, 16*block)
			columns.setScale(d.scale, 16*block, width)
			t.b = pointer(d.weights[block*d.size:])
		}
		t.a = pointer(d.src[16*(plane*d.InH+y*d.StrideH)*d.InW:])
		t.c = pointer(d.dst[16*from*d.OutW:])
		runByteWindow(&t)
	}
}

// byteWindowRef computes, for each pixel and each of its 16 channels, the sum of weight times cell
// over the window. It requantises the sum as byteTileRef does.
func byteWindowRef(t *byteWindow) {
	width := 4*t.fours + t.rest
	for i := range t.n {
		sums := [16]int32(t.columns.first[:16])
		for y := range t.rows {
			for x := range width {
				cells := (*[16]uint8)(unsafe.Add(t.a, i*t.stepA+y*t.rowA+x*t.cell))
				weights := (*[64]int8)(unsafe.Add(t.b, (y*ceil(width, 4)+x/4)*64))
				for j, v := range cells {
					sums[j] += int32(v) * int32(weights[4*j+x%4])
				}
			}
		}
		to := (*[16]byte)(unsafe.Add(t.c, 16*i))
		for j, v := range sums {
			to[j] = byte(toEven(times(float32(v), t.columns.scale[j], t.columns.less[j]), t.lo, t.hi) + t.last)
		}
	}
}
