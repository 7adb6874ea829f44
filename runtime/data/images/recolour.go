package images

import "fmt"

// recolour computes a new colour for each pixel. The new colour depends only on the pixel's old
// colour. Channels are from 0 to 1.
type recolour interface {
	colour(r, g, b float32) (float32, float32, float32)
}

// paint applies op to the pixels of a sample. Results are clamped to [0, 1]. In a picture of 8 bits
// they are also clamped to alpha, because colours are premultiplied. A grey picture stays grey.
// paint returns an error if the picture does not have 1, 3 or 4 channels.
func paint[P recolour](s *Sample, op P) error {
	if s.Image != nil {
		dst := s.spare.imageOver(s.Image)
		in, out := rgbaRaster(s.Image), rgbaRaster(dst)
		for y := range in.height {
			from, to := in.row(y), out.row(y)
			for i := 0; i+4 <= len(from); i += 4 {
				p, q := from[i:i+4], to[i:i+4]
				r, g, b := op.colour(unit[p[0]], unit[p[1]], unit[p[2]])
				alpha := p[3]
				q[0], q[1], q[2], q[3] = min(alpha, byteOf(255*r)), min(alpha, byteOf(255*g)), min(alpha, byteOf(255*b)), alpha
			}
		}
		s.Image = dst
		return nil
	}
	src := s.CHW
	if err := checkColours(src.Channels); err != nil {
		return err
	}
	dst := s.spare.planesOver(src)
	n := src.Width * src.Height
	if src.Channels == 1 {
		for i, v := range src.Data {
			r, _, _ := op.colour(v, v, v)
			dst.Data[i] = clampUnit(r)
		}
	} else {
		for i := range n {
			r, g, b := op.colour(src.Data[i], src.Data[n+i], src.Data[2*n+i])
			dst.Data[i], dst.Data[n+i], dst.Data[2*n+i] = clampUnit(r), clampUnit(g), clampUnit(b)
		}
		copy(dst.Data[3*n:], src.Data[3*n:])
	}
	s.CHW = dst
	return nil
}

// checkColours returns an error unless channels is 1 (grey), 3 (RGB) or 4 (RGBA).
func checkColours(channels int) error {
	if channels != 1 && channels != 3 && channels != 4 {
		return fmt.Errorf("a picture of %d channels does not have colours", channels)
	}
	return nil
}

func clampUnit(x float32) float32 {
	if !(x > 0) { // also NaN
		return 0
	}
	return min(x, 1)
}

type brightness struct{ factor float32 }

func (op brightness) colour(r, g, b float32) (float32, float32, float32) {
	return op.factor * r, op.factor * g, op.factor * b
}

// contrast multiplies the difference between a colour and grey by factor.
type contrast struct{ factor, grey float32 }

func (op contrast) colour(r, g, b float32) (float32, float32, float32) {
	return mix(op.grey, r, op.factor), mix(op.grey, g, op.factor), mix(op.grey, b, op.factor)
}

// saturation changes the saturation of a colour: it multiplies the difference between the colour
// and its luma by factor.
type saturation struct{ factor float32 }

func (op saturation) colour(r, g, b float32) (float32, float32, float32) {
	l := luma(r, g, b)
	return mix(l, r, op.factor), mix(l, g, op.factor), mix(l, b, op.factor)
}

// hue turns the hue of a colour, in the model HSV. The maximum and the minimum of the channels do
// not change.
type hue struct{ turns float32 }

func (op hue) colour(r, g, b float32) (float32, float32, float32) {
	high, low := max(r, g, b), min(r, g, b)
	span := high - low
	if !(span > 0) {
		return r, g, b
	}
	var at float32 // sixths of a turn from red
	switch high {
	case r:
		at = (g - b) / span
	case g:
		at = 2 + (b-r)/span
	default:
		at = 4 + (r-g)/span
	}
	at += float32(6 * op.turns)
	for at < 0 {
		at += 6
	}
	for at >= 6 {
		at -= 6
	}
	// Each channel is a ramp up, two sixths of the maximum, a ramp down, and two of the minimum.
	channel := func(first float32) float32 {
		k := at + first
		if k >= 6 {
			k -= 6
		}
		return high - float32(span*max(0, min(k, 4-k, 1)))
	}
	return channel(5), channel(3), channel(1)
}

// meanLuma returns the mean luma of the picture, from 0 to 1. For a picture of 8 bits, the mean is
// rounded to a multiple of 1/255, as in Pillow. meanLuma returns an error unless the picture has 1,
// 3 or 4 channels.
func (s *Sample) meanLuma() (float32, error) {
	sum := 0.0
	if s.Image != nil {
		m := rgbaRaster(s.Image)
		for y := range m.height {
			row := m.row(y)
			for i := 0; i+4 <= len(row); i += 4 {
				// The weights of BT.601 in fractions of 2¹⁶, rounded.
				sum += float64((19595*uint32(row[i]) + 38470*uint32(row[i+1]) + 7471*uint32(row[i+2]) + 1<<15) >> 16)
			}
		}
		return unit[byteOf(float32(sum/float64(m.width*m.height)))], nil
	}
	p := s.CHW
	if err := checkColours(p.Channels); err != nil {
		return 0, err
	}
	n := p.Width * p.Height
	for i := range n {
		if p.Channels == 1 {
			sum += float64(p.Data[i])
		} else {
			sum += float64(luma(p.Data[i], p.Data[n+i], p.Data[2*n+i]))
		}
	}
	return float32(sum / float64(n)), nil
}

func (s *Sample) applyContrast(factor float32) error {
	grey, err := s.meanLuma()
	if err != nil {
		return err
	}
	return paint(s, contrast{factor, grey})
}
