package cpu

// Patches puts the cells under each place of a window over planes [n, c, in…] into
// panels as [PackColumns] does, moved to uint8: [n, ⌈P/16⌉, ⌈K/4⌉, 16, 4] for P places,
// out…, and K = c·kernel… cells. pads are the cells before the first of each of the
// at most 8 axes. Cells outside src hold pad's element, 0 when it is nil. sums, which
// may be nil, gets the sum of each column, [n, P].
func Patches[S Byte](dst []uint8, sums []int32, src []S, pad []int32, n, c int, in, out, kernel, strides, dilations, pads []int) {
	p := patches{n: n, c: c, axes: len(in), change: flip[uint8, S]()}
	for i := range in {
		p.axis[i] = patchAxis{in[i], out[i], kernel[i], strides[i], dilations[i], pads[i]}
		if min(strides[i], dilations[i]) < 1 || pads[i] < 0 {
			panic("cpu: patches of negative or no size")
		}
	}
	p.taps, p.places, p.plane = volume(kernel...), volume(out...), volume(in...)
	p.groups, p.panels = ceil(volume(c, p.taps), 4), ceil(p.places, 16)
	p.dst = dst[:volume(n, p.panels, p.groups, 64)]
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

// patchAxis is one spatial axis.
type patchAxis struct{ in, out, kernel, stride, dilation, pad int }

// patches is a Patches under way.
type patches struct {
	n, c     int
	axes     int
	axis     [8]patchAxis
	dst, src []byte
	sums     []int32
	pad      byte
	change   byte // of the sign

	taps, places, plane int
	panels, groups      int // of the result
}

var allPatches slot[patches, *patches]

// Part does the i-th of parts shares of the panels.
func (p *patches) Part(i, parts int) {
	from, to := portion(p.n*p.panels, i, parts)
	for ; from < to; from++ {
		p.panel(from/p.panels, from%p.panels)
	}
}

// panel fills one panel of one image.
func (p *patches) panel(n, number int) {
	var corner [16][8]int
	first := 16 * number
	width := min(16, p.places-first)
	for j := range width {
		o := first + j
		for i := p.axes - 1; i >= 0; i-- {
			a := &p.axis[i]
			corner[j][i] = o%a.out*a.stride - a.pad
			o /= a.out
		}
	}
	panel := p.dst[(n*p.panels+number)*p.groups*64:][:p.groups*64]
	if width < 16 || p.c*p.taps%4 != 0 {
		clear(panel)
	}
	planes := p.src[n*p.c*p.plane:][:p.c*p.plane]
	var offset [16]int
	for tap := range p.taps {
		inside := p.offsets(&offset, &corner, width, tap)
		for c := range p.c {
			row := c*p.taps + tap
			to, plane := panel[row/4*64+row%4:], planes[c*p.plane:][:p.plane]
			if inside {
				for j, at := range offset[:width] {
					to[4*j] = plane[at] ^ p.change
				}
				continue
			}
			for j, at := range offset[:width] {
				v := p.pad
				if at >= 0 {
					v = plane[at] ^ p.change
				}
				to[4*j] = v
			}
		}
	}
	if p.sums != nil {
		sums := p.sums[n*p.places+first:][:width]
		clear(sums)
		for g := range p.groups {
			for j := range sums {
				sums[j] += sumOf(panel[64*g+4*j:][:4], false)
			}
		}
	}
}

// offsets finds where the cells of a tap lie in a plane, −1 outside, and reports
// whether all lie inside.
func (p *patches) offsets(offset *[16]int, corner *[16][8]int, width, tap int) bool {
	var step [8]int
	for i := p.axes - 1; i >= 0; i-- {
		a := &p.axis[i]
		step[i] = tap % a.kernel * a.dilation
		tap /= a.kernel
	}
	all := true
	for j := range width {
		at := 0
		for i, a := range p.axis[:p.axes] {
			cell := corner[j][i] + step[i]
			if cell < 0 || cell >= a.in {
				at, all = -1, false
				break
			}
			at = at*a.in + cell
		}
		offset[j] = at
	}
	return all
}
