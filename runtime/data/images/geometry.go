package images

import "fmt"

// geometry is a transform that moves pixels to other places.
type geometry interface {
	// size returns the size of the result.
	size() (width, height int)
	// source maps points of the result to points of the picture.
	source() affine
	bytes(dst, src raster[uint8], w *scaling)
	// floats transforms plane c of a picture of `channels` channels.
	floats(dst, src raster[float32], c, channels int, w *scaling)
	// classes transforms a mask without mixing classes.
	classes(dst, src raster[uint8], w *scaling)
}

// reshape applies a geometry to the picture, the mask and the boxes of a sample. Errors begin with
// `name`.
func reshape[G geometry](s *Sample, name string, g G) error {
	width, height := g.size()
	if err := checkSize(width, height); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	w := &s.spare.scaling
	if s.Image != nil {
		dst := s.spare.imageFor(s.Image, width, height)
		g.bytes(rgbaRaster(dst), rgbaRaster(s.Image), w)
		s.Image = dst
	} else {
		n := s.CHW.Channels
		dst := s.spare.planesFor(s.CHW, n, width, height)
		for c := range n {
			g.floats(dst.plane(c), s.CHW.plane(c), c, n, w)
		}
		s.CHW = dst
	}
	if s.Mask != nil {
		dst := s.spare.maskFor(s.Mask, width, height)
		g.classes(grayRaster(dst), grayRaster(s.Mask), w)
		s.Mask = dst
	}
	if s.Boxes != nil {
		s.spare.boxes = carry(s.spare.boxes, s.Boxes, g.source(), width, height)
		s.Boxes = s.spare.boxes
	}
	return nil
}

// affine is an affine map of points. It maps (x, y) to (a·x + b·y + c, d·x + e·y + f), in pixels.
type affine [6]float64

func (m affine) at(x, y float64) (float64, float64) {
	return float64(m[0]*x) + float64(m[1]*y) + m[2], float64(m[3]*x) + float64(m[4]*y) + m[5]
}

// after returns the composition m∘n: it applies n first, then m.
func (m affine) after(n affine) affine {
	a, d := m.linear(n[0], n[3])
	b, e := m.linear(n[1], n[4])
	c, f := m.at(n[2], n[5])
	return affine{a, b, c, d, e, f}
}

// linear applies m without the translation.
func (m affine) linear(x, y float64) (float64, float64) {
	return float64(m[0]*x) + float64(m[1]*y), float64(m[3]*x) + float64(m[4]*y)
}

func (m affine) inverse() (affine, bool) {
	det := float64(m[0]*m[4]) - float64(m[1]*m[3])
	if det == 0 || det-det != 0 {
		return affine{}, false
	}
	a, b, d, e := m[4]/det, -m[1]/det, -m[3]/det, m[0]/det
	return affine{a, b, -float64(a*m[2]) - float64(b*m[5]), d, e, -float64(d*m[2]) - float64(e*m[5])}, true
}
