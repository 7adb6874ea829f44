package images

import (
	"fmt"
	"image/color"
	"math"
	"math/rand/v2"
)

// Rotate turns the picture about its centre by a random angle. The size does not change, and the
// corners are filled. Rotate agrees with torchvision's RandomRotation with expand=False, with one
// exception: bilinear values of 8 bits are rounded here, but truncated by Pillow.
type Rotate struct {
	Degrees   [2]float64 // least and largest angle, to the left
	Filter    Filter     // Bilinear (default) or Nearest
	Fill      color.RGBA // of pixels outside of the picture; default black
	FillClass uint8      // of the mask's pixels there
}

// Apply implements [Transform]. A box becomes the bounding box of its turned corners, clipped to
// the picture.
func (t Rotate) Apply(s *Sample, r *rand.Rand) error {
	if err := s.begin("rotate", r); err != nil {
		return err
	}
	if err := checkRange("degrees", t.Degrees, -math.MaxFloat32, math.MaxFloat32); err != nil {
		return fmt.Errorf("rotate: %w", err)
	}
	m := rotation(uniform(r, t.Degrees[0], t.Degrees[1])) // from the result back to the picture
	return warpAbout(s, "rotate", m, t.Filter, t.Fill, t.FillClass)
}

// warpAbout warps a sample. m maps points of the result to points of the picture, relative to the
// centre of the picture. `name` is the prefix of errors.
func warpAbout(s *Sample, name string, m affine, f Filter, fill color.RGBA, class uint8) error {
	if f != Bilinear && f != Nearest {
		return fmt.Errorf("%s: filter %d: Bilinear or Nearest expected", name, f)
	}
	w, h := s.size()
	return reshape(s, name, warp{w, h, m.about(float64(w)/2, float64(h)/2), f, fill, class})
}

// Affine turns, scales, shears and moves the picture about its centre, at random. The size does not
// change. Affine agrees with torchvision's RandomAffine, with one exception: bilinear values of 8
// bits are rounded here, but truncated by Pillow.
type Affine struct {
	Degrees   [2]float64 // least and largest angle of turning, to the right
	Translate [2]float64 // largest shift to either side, as a fraction of the width and of the height
	Scale     [2]float64 // least and largest factor; default 1
	ShearX    [2]float64 // least and largest angle between vertical lines and the vertical, in degrees
	ShearY    [2]float64 // least and largest angle between horizontal lines and the horizontal
	Filter    Filter     // Bilinear (default) or Nearest
	Fill      color.RGBA // of pixels outside of the picture; default black
	FillClass uint8      // of the mask's pixels there
}

// Apply implements [Transform]. A box becomes the bounding box of its transformed corners, clipped
// to the picture.
func (t Affine) Apply(s *Sample, r *rand.Rand) error {
	if err := s.begin("affine", r); err != nil {
		return err
	}
	t.Scale = or(t.Scale, [2]float64{1, 1})
	for _, each := range []struct {
		name        string
		values      [2]float64
		least, most float64
	}{
		{"degrees", t.Degrees, -math.MaxFloat32, math.MaxFloat32},
		{"translation", [2]float64{0, t.Translate[0]}, 0, 1},
		{"translation", [2]float64{0, t.Translate[1]}, 0, 1},
		{"scale", t.Scale, 1e-3, 1e3},
		{"shear", t.ShearX, -89, 89},
		{"shear", t.ShearY, -89, 89},
	} {
		if err := checkRange(each.name, each.values, each.least, each.most); err != nil {
			return fmt.Errorf("affine: %w", err)
		}
	}
	w, h := s.size()
	turn := rotation(uniform(r, t.Degrees[0], t.Degrees[1]))
	dx := math.RoundToEven(uniform(r, -t.Translate[0], t.Translate[0]) * float64(w))
	dy := math.RoundToEven(uniform(r, -t.Translate[1], t.Translate[1]) * float64(h))
	factor := uniform(r, t.Scale[0], t.Scale[1])
	tanX := math.Tan(uniform(r, t.ShearX[0], t.ShearX[1]) * math.Pi / 180)
	tanY := math.Tan(uniform(r, t.ShearY[0], t.ShearY[1]) * math.Pi / 180)
	// As torchvision: shear x, then shear y, then turn, scale and move. A positive angle moves the
	// lower half of the picture to the left, and the right half up.
	m := affine{factor, 0, 0, 0, factor, 0}.after(turn).after(affine{1, 0, 0, -tanY, 1, 0}).after(affine{1, -tanX, 0, 0, 1, 0})
	m[2], m[5] = dx, dy
	back, ok := m.inverse()
	if !ok {
		return fmt.Errorf("affine: the shears leave a line of the picture")
	}
	return warpAbout(s, "affine", back, t.Filter, t.Fill, t.FillClass)
}
