package cpu

// Patches gathers the cells under each window of a convolution, as rows in the format of
// [PackRows]. src is [n, c, in…]. dst is uint8[n, P, 4·⌈K/4⌉]. P is the number of windows, the
// product of out. K is the number of cells of a window, c times the product of kernel. Cells
// outside src have the value pad[0], or 0 if pad is nil. pads lists the cells of padding before the
// first element of each axis. There are at most 8 axes. sums, which may be nil, receives the sum of
// each row, [n, P].
func Patches[S Byte](dst []uint8, sums []int32, src []S, pad []int32, n, c int, in, out, kernel, strides, dilations, pads []int) {
	p := patches{n: n, c: c, axes: len(in), change: flip[uint8, S]()}
	for i := range in {
		p.axis[i] = patchAxis{in[i], out[i], kernel[i], strides[i], dilations[i], pads[i]}
		if min(strides[i], dilations[i]) < 1 || pads[i] < 0 {
			panic("cpu: patches of negative or no size")
		}
	}
	p.taps, p.places, p.plane = volume(kernel...), volume(out...), volume(in...)
	p.width = 4 * ceil(volume(c, p.taps), 4)
	p.dst = dst[:volume(n, p.places, p.width)]
	p.src = bytesOf(src[:volume(n, c, p.plane)])
	if sums != nil {
		p.sums = sums[:volume(n, p.places)]
	}
	if len(pad) > 0 {
		p.pad = byte(pad[0])
	}
	if !allPatches.run(&p, partsFor(int64(len(p.dst)), int64(len(p.dst)))) {
		p.Part(0, 1)
	}
}

type patchAxis struct{ in, out, kernel, stride, dilation, pad int }

type patches struct {
	n, c     int
	axes     int
	axis     [8]patchAxis
	dst, src []byte
	sums     []int32
	pad      byte
	change   byte // xor that flips the sign bit of int8

	taps, places, plane int // cells of a window in a channel, windows, and elements of a channel
	width               int // of a row
}

var allPatches slot[patches, *patches]

func (p *patches) Part(i, parts int) {
	from, to := portion(p.n*p.places, i, parts)
	for ; from < to; from++ {
		row := p.dst[from*p.width:][:p.width]
		p.row(row, p.src[from/p.places*p.c*p.plane:][:p.c*p.plane], from%p.places)
		if p.sums != nil {
			p.sums[from] = sumOf(row, false)
		}
	}
}

// row fills the row of one window. `place` is the index of the window within its image.
func (p *patches) row(row, planes []byte, place int) {
	var corner [8]int
	for i := p.axes - 1; i >= 0; i-- {
		a := &p.axis[i]
		corner[i] = place%a.out*a.stride - a.pad
		place /= a.out
	}
	clear(row[p.c*p.taps:])
	for tap := range p.taps {
		at, inside := p.cell(&corner, tap)
		for c := range p.c {
			v := p.pad
			if inside {
				v = planes[c*p.plane+at] ^ p.change
			}
			row[c*p.taps+tap] = v
		}
	}
}

// cell returns the offset, in a plane, of the element at a tap of a window. `corner` has the
// coordinates of the window's first cell. inside is false if the tap is on padding.
func (p *patches) cell(corner *[8]int, tap int) (at int, inside bool) {
	step := 1
	for i := p.axes - 1; i >= 0; i-- {
		a := &p.axis[i]
		cell := corner[i] + tap%a.kernel*a.dilation
		if cell < 0 || cell >= a.in {
			return 0, false
		}
		at += cell * step
		step *= a.in
		tap /= a.kernel
	}
	return at, true
}
