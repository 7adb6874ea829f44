package image

type plane struct {
	pix           []uint8
	stride        int
	width, height int // size in samples, without padding
	wide, high    int // pixels per sample
	sums          []int
}

// plane dequantises and inverse-transforms the blocks of c.
func (c *component) plane(f *jpegFile) plane {
	p := plane{
		stride: 8 * c.stride, width: c.width, height: c.high, wide: f.wide / c.h, high: f.high / c.v,
		sums: make([]int, c.width),
	}
	p.pix = make([]uint8, 64*len(c.blocks))
	for i := range c.blocks {
		transform(p.pix[i/c.stride*8*p.stride+i%c.stride*8:], p.stride, &c.blocks[i], c.quantTable)
	}
	return p
}

// row upsamples the samples of row y of the image into dst, which is as wide as the image. A plane
// of half the width or height is interpolated by a triangle filter. Along each axis, the nearest
// sample has weight 3/4 and the second nearest 1/4. Halves are rounded up for one pixel and down
// for the next. For other ratios, samples are repeated. They are also repeated if the plane has
// half the width and at most 2 columns.
func (p *plane) row(dst []uint8, y int) {
	twiceHigh, twiceWide := p.high == 2 && p.wide <= 2, p.wide == 2 && p.high <= 2 && p.width > 2
	if p.wide == 2 && !twiceWide {
		twiceHigh = false
	}
	if !twiceHigh && !twiceWide {
		from := p.pix[y/p.high*p.stride:]
		for x := range dst {
			dst[x] = from[x/p.wide]
		}
		return
	}
	near := p.pix[y/p.high*p.stride:][:p.width]
	sums := p.sums // in quarters where the height is interpolated
	if twiceHigh {
		far := p.pix[neighbour(y, p.height)*p.stride:][:p.width]
		for x := range sums {
			sums[x] = 3*int(near[x]) + int(far[x])
		}
	} else {
		for x, v := range near {
			sums[x] = int(v)
		}
	}
	for x := range dst {
		switch {
		case !twiceWide:
			dst[x] = uint8((sums[x] + 1 + y%2) / 4)
		case !twiceHigh:
			dst[x] = uint8((3*sums[x/2] + sums[neighbour(x, p.width)] + 1 + x%2) / 4)
		default:
			dst[x] = uint8((3*sums[x/2] + sums[neighbour(x, p.width)] + 8 - x%2) / 16)
		}
	}
}

// neighbour returns the index of the sample that is second nearest to pixel x. There is a sample
// for every two pixels: sample x/2 is the nearest one, and the second nearest is before or after
// it. The index is clamped to 0 … n−1.
func neighbour(x, n int) int { return min(max(x/2-1+2*(x%2), 0), n-1) }

// paint stores the pixels of the image in the canvas `to`. It returns an error if a component has
// no blocks.
func (f *jpegFile) paint(to *canvas) error {
	planes, rows := make([]plane, len(f.components)), make([][]uint8, len(f.components))
	for i := range f.components {
		if f.components[i].blocks == nil {
			return errCutOff
		}
		planes[i] = f.components[i].plane(f)
		rows[i] = make([]uint8, f.width)
	}
	colour := f.colours()
	for y := range f.height {
		for i := range planes {
			planes[i].row(rows[i], y)
		}
		for x := range f.width {
			var v [4]uint8
			for i, row := range rows {
				v[i] = row[x]
			}
			r, g, b := colour(v)
			to.set(x, y, r, g, b)
		}
	}
	return nil
}

func (f *jpegFile) colours() func(v [4]uint8) (r, g, b uint8) {
	switch {
	case len(f.components) == 1:
		return func(v [4]uint8) (r, g, b uint8) { return v[0], v[0], v[0] }
	case len(f.components) == 4 && f.adobe && f.adobeTransform == 2:
		return func(v [4]uint8) (r, g, b uint8) {
			c, m, y := ycc(v[0], v[1], v[2])
			return inks(255-c, 255-m, 255-y, v[3])
		}
	case len(f.components) == 4:
		return func(v [4]uint8) (r, g, b uint8) { return inks(v[0], v[1], v[2], v[3]) }
	}
	c := f.components
	named := c[0].id == 'R' && c[1].id == 'G' && c[2].id == 'B'
	if !f.jfif && (f.adobe && f.adobeTransform == 0 || !f.adobe && named) {
		return func(v [4]uint8) (r, g, b uint8) { return v[0], v[1], v[2] }
	}
	return func(v [4]uint8) (r, g, b uint8) { return ycc(v[0], v[1], v[2]) }
}

// ycc converts a pixel from YCbCr to RGB with the formulas of JFIF, in fixed point with 16
// fractional bits.
func ycc(y, cb, cr uint8) (r, g, b uint8) {
	const half = 1 << 15
	l, u, v := int32(y), int32(cb)-128, int32(cr)-128
	return clamp(l + (91881*v+half)>>16), clamp(l + (-22554*u-46802*v+half)>>16), clamp(l + (116130*u+half)>>16)
}

// inks converts a pixel from inverted CMYK, in which 255 means no ink, to RGB.
func inks(c, m, y, k uint8) (r, g, b uint8) {
	light := func(ink uint8) uint8 {
		dark := int32(255-ink)*int32(k) + 128
		return clamp(int32(k) - (dark>>8+dark)>>8)
	}
	return light(c), light(m), light(y)
}

func clamp(v int32) uint8 { return uint8(min(max(v, 0), 255)) }
