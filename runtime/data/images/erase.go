package images

import (
	"fmt"
	"image"
	"image/color"
	"math/rand/v2"
)

// Erase fills a random rectangle. The share of the picture's area is drawn uniformly. The logarithm
// of width/height is also drawn uniformly. If ten drawn rectangles do not fit, nothing is erased.
// Boxes and masks do not change. Erase agrees with torchvision's RandomErasing. To erase with a
// probability, use it in a [Maybe].
type Erase struct {
	Scale [2]float64 // share of the picture's area; default 0.02 to 0.33
	Ratio [2]float64 // width/height of the rectangle, torchvision's is height/width; default 0.3 to 3.3
	Fill  color.RGBA // default black; floats get 0 to 1
	// Noise fills with random values instead: uniform ones in a picture of 8 bits, normally distributed
	// ones with mean 0 and variance 1 in floats.
	Noise bool
}

// Apply implements [Transform].
func (t Erase) Apply(s *Sample, r *rand.Rand) error {
	if err := s.begin("erase", r); err != nil {
		return err
	}
	t.Scale, t.Ratio = or(t.Scale, [2]float64{0.02, 0.33}), or(t.Ratio, [2]float64{0.3, 3.3})
	if err := checkRange("scale", t.Scale, 0, 1); err != nil {
		return fmt.Errorf("erase: %w", err)
	}
	if err := checkRange("ratio", t.Ratio, 1e-3, 1e3); err != nil {
		return fmt.Errorf("erase: %w", err)
	}
	w, h := s.size()
	for range 10 {
		if part, ok := randomRectangle(w, h, t.Scale, t.Ratio, r); ok {
			t.erase(s, part, r)
			return nil
		}
	}
	return nil
}

// erase fills a rectangle of the picture and the mask.
func (t Erase) erase(s *Sample, part image.Rectangle, r *rand.Rand) {
	if s.Image != nil {
		dst := s.spare.imageOver(s.Image)
		out := rgbaRaster(dst)
		if dst != s.Image {
			in := rgbaRaster(s.Image)
			for y := range in.height {
				copy(out.row(y), in.row(y))
			}
		}
		fill := t.Fill
		fill.A = 255
		out = out.part(part)
		for y := range out.height {
			row := out.row(y)
			for x := range out.width {
				if t.Noise {
					u := r.Uint32()
					fill.R, fill.G, fill.B = uint8(u), uint8(u>>8), uint8(u>>16)
				}
				*(*[4]uint8)(row[4*x:]) = fillBytes(fill)
			}
		}
		s.Image = dst
		return
	}
	dst := s.spare.planesOver(s.CHW)
	if begin(dst.Data) != begin(s.CHW.Data) {
		copy(dst.Data, s.CHW.Data)
	}
	for c := range dst.Channels {
		out, fill := dst.plane(c).part(part), fillFloat(t.Fill, c, dst.Channels)[0]
		for y := range out.height {
			row := out.row(y)
			for x := range row {
				if t.Noise {
					fill = float32(r.NormFloat64())
				}
				row[x] = fill
			}
		}
	}
	s.CHW = dst
}
